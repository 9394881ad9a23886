import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { Command } from 'commander'
import { afterEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { UsageError } from '../../../../src/cli/problem.ts'
import { readConfigFile, readWatchdogConfig } from '../../../../src/commands/watchdog/config.ts'
import { register } from '../../../../src/commands/watchdog.ts'
import { fakeRuntime, newWorld } from '../support.ts'
import { BAD_IN_BOTH, BAD_TO_THE_READER, type Bad, GOOD } from './config-examples.ts'

const FILE = 'dir/w.yaml'
const read = (text: string) => readWatchdogConfig(text, FILE)

function fault(text: string): UsageError {
  try {
    read(text)
  } catch (error) {
    if (error instanceof UsageError) return error
    throw error
  }
  throw new Error(`it was taken: ${text}`)
}

const schema = JSON.parse(
  readFileSync(new URL('../../../../docs/watchdog-config.schema.json', import.meta.url), 'utf8'),
)
const isValid = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(schema)

const withHints = (bad: readonly Bad[]) => bad.map(([text, what, hint = '']) => [text, what, hint] as const)

describe('a configuration', () => {
  test('has the names of the flags', () => {
    expect(read(GOOD.everything)).toEqual({
      interval: 30_000,
      match: 'orders/**',
      onDue: 'notify',
      maxPerPass: 50,
      maxShare: 0.2,
      shards: 3,
      purge: 90 * 86_400_000,
      listen: { host: '127.0.0.1', port: 9464 },
      listenNames: ['watchdog.monitoring.svc'],
      onExpired: [
        { kind: 'command', where: `${FILE}, line 11: on-expired`, folder: 'dir', argv: ['/opt/my hooks/page'] },
      ],
      onDone: [
        {
          kind: 'command',
          where: `${FILE}, line 12: on-done`,
          folder: 'dir',
          argv: ['notify', '--level', '5', '--all'],
        },
      ],
      onFailed: [
        {
          kind: 'command',
          where: `${FILE}, line 14: command`,
          folder: 'dir',
          argv: ['./page.sh', '--now'],
          timeoutMs: 10_000,
          tries: 2,
        },
        {
          kind: 'webhook',
          where: `${FILE}, line 17: webhook`,
          folder: 'dir',
          url: 'https://hooks.example.com/T0?x=1',
          secret: { env: 'HOOK_SECRET' },
          networks: ['127.0.0.0/8', 'fd12:3456::/32'],
        },
        {
          kind: 'webhook',
          where: `${FILE}, line 19: webhook`,
          folder: 'dir',
          url: 'http://127.0.0.1:8080/',
          secret: { file: '/run/secrets/hook' },
          networks: ['127.0.0.0/8', 'fd12:3456::/32'],
        },
      ],
    })
  })

  test.each(Object.entries(GOOD))('is accepted by reader and schema: %s', (_, text) => {
    read(text)
    expect(isValid(parse(text) ?? {}), JSON.stringify(isValid.errors)).toBe(true)
  })

  test.each(withHints(BAD_IN_BOTH))('is refused by reader and schema: %s: %s', (text, what, hint) => {
    const { message, hint: given = '' } = fault(text)
    expect(message).toMatch(/^dir\/w\.yaml(, line \d+)?/)
    expect(message).toContain(what)
    expect(given).toContain(hint)
    expect(isValid(parse(text))).toBe(false)
  })

  test.each(withHints(BAD_TO_THE_READER))('is refused by the reader alone, which checks more: %s: %s', (text, what) => {
    expect(fault(text).message).toContain(what)
  })

  test('never repeats a possible secret', () => {
    const canary = 'canary-canary'
    const texts = [
      `on-done: {webhook: "https://u:${canary}@h/x"}`,
      `on-done: {webhook: "ftp://h/${canary}"}`,
      `on-done: {webhook: "https://h/${canary}#x"}`,
      `on-done: {webhook: "https://h/${canary}", secret: ${canary}}`,
      `on-done: {webhook: "https://h/${canary}", secret-env: "${canary}"}`,
      `on-done: {webhook: "https://h/${canary}"}`,
      `on-done: {webhook: "${canary}"}`,
    ]
    for (const text of texts) {
      const { message, hint } = fault(text)
      expect(`${message} ${hint}`).not.toContain(canary)
    }
  })

  test('explains how to allow an internal address', () => {
    const { message, hint } = fault('on-done: {webhook: https://10.0.0.7/x}\nwebhooks: {allow: 10.0.0.7}')
    expect(message).toBe(
      `${FILE}, line 1: webhook: 10.0.0.7 is a private address and not in webhooks: {networks: […]} in the file of --config`,
    )
    expect(hint).toBe('To permit it: webhooks: {networks: [10.0.0.7]}.')
  })

  test('lists the keys of its schema', () => {
    for (const key of Object.keys(schema.properties)) expect(fault('xxxxxxxxxx: 1').hint).toContain(key)
  })
})

/** The parser of a flag, by its name. */
function flagParser(flag: string): (text: string) => unknown {
  const parent = new Command('leasectl')
  register(parent, fakeRuntime(newWorld(), []).runtime)
  const option = parent.commands[0]?.options.find(({ long }) => long === `--${flag}`)
  if (option?.parseArg === undefined) throw new Error(`there is no --${flag}`)
  return text => option.parseArg?.(text, undefined)
}

describe('a value is read like that of the flag', () => {
  const SAMPLES = [
    '30s',
    '30',
    '0s',
    '5',
    '0',
    '1',
    '20%',
    '0.2',
    'notify',
    'abort',
    'orders/*',
    ':9464',
    '9464',
    'x:y',
    '/bin/true',
  ]
  const FLAGS = ['interval', 'match', 'on-due', 'max-per-pass', 'max-share', 'shards', 'listen']

  test.each(FLAGS)('--%s', flag => {
    const outcome = (run: () => unknown) => {
      try {
        return run()
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        const place = /dir\/w\.yaml, line 1: [a-z-]+|--[a-z-]+/g
        return [error.message.replace(place, 'X'), error.hint?.replace(place, 'X')]
      }
    }
    for (const sample of SAMPLES) {
      const inFile = outcome(() => Object.values(read(`${flag}: ${JSON.stringify(sample)}`))[0])
      expect([sample, inFile]).toEqual([sample, outcome(() => flagParser(flag)(sample))])
    }
  })
})

describe('the file', () => {
  const folders: string[] = []
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })

  function file(text: string | Uint8Array, mode = 0o600): string {
    const folder = mkdtempSync(join(tmpdir(), 'leasectl-config-'))
    folders.push(folder)
    const path = join(folder, 'w.yaml')
    writeFileSync(path, text)
    chmodSync(path, mode)
    return path
  }

  test('is read, with a warning if other users may write to it', async () => {
    expect(await readConfigFile(file('shards: 2\n'))).toEqual({ config: { shards: 2 }, warnings: [] })
    const { warnings } = await readConfigFile(file('shards: 2\n', 0o666))
    expect(warnings).toEqual([expect.stringContaining('is world-writable')])
  })

  test.each([
    ['/nowhere/w.yaml', 'cannot be read (ENOENT)'],
    ['/dev/zero', 'is not a file'],
    ['/', 'is not a file'],
  ])('%s %s', async (path, what) => {
    await expect(readConfigFile(path)).rejects.toThrow(`--config ${path} ${what}`)
  })

  test('has a size limit, and is text', async () => {
    await expect(readConfigFile(file('#'.repeat(70_000)))).rejects.toThrow('is too long')
    await expect(readConfigFile(file(Uint8Array.of(0xff, 0xfe, 0x00)))).rejects.toThrow('cannot be read')
  })
})
