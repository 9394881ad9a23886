import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { parsed } from '../../../../src/cli/command.ts'
import { type SelectionOptions, selectionFlags } from '../../../../src/cli/selection/flags.ts'
import { filterOf, readSelection, requireSelection } from '../../../../src/cli/selection/read.ts'
import { MAX_READ_BYTES } from '../../../../src/stream/limits.ts'
import { fakeRuntime, NOON, newWorld, type Setting } from '../../commands/support.ts'

const none: SelectionOptions = { names: [] }

async function read(options: Partial<SelectionOptions>, setting: Setting = {}) {
  return readSelection({ ...none, ...options }, fakeRuntime(newWorld(), [], setting).runtime)
}

const listed = (text: string) => read({ streams: 'list' }, { files: { list: text } })

describe('one kind of selection', () => {
  test('names, each once, in the order given', async () => {
    expect(await read({ names: ['b', 'a', 'b'] })).toEqual({ kind: 'names', names: ['b', 'a'] })
  })

  test('--all is a filter without conditions', async () => {
    expect(await read({ all: true })).toEqual({ kind: 'filter', filter: {} })
  })

  test('nothing is an error', async () => {
    expect(await read({})).toBeUndefined()
    await expect(requireSelection(none, fakeRuntime(newWorld(), []).runtime)).rejects.toThrow('which streams?')
  })

  test.each([
    [{ names: ['a'], all: true }, 'names and --all'],
    [{ names: ['a'], status: ['init'] }, 'names and filters'],
    [{ failed: true, streams: 'list' }, 'filters and --streams'],
    [{ streams: 'list', all: true }, '--streams and --all'],
    [{ names: ['a'], match: ['**'], all: true }, 'names and filters and --all'],
  ])('two kinds are refused: %o', async (options, says) => {
    await expect(read(options, { files: { list: 'a' } })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(says),
    })
  })
})

describe('filters', () => {
  test.each([
    ['--since 1h --until 2h', true],
    ['--since 1h --older-than 2h', true],
    ['--since 2h --until 1h', false],
  ])('a span of time that ends before it begins is refused: %s', (line, isRefused) => {
    const command = selectionFlags(new Command('x').argument('[STREAM...]'))
    command.parse(line.split(' '), { from: 'user' })
    const filter = () => filterOf(parsed<SelectionOptions>(command, ['names']), NOON)
    if (isRefused) expect(filter).toThrow('--since is later than --until or --older-than: no stream can match')
    else expect(filter()).toMatchObject({ sinceMs: NOON - 7_200_000, untilMs: NOON - 3_600_000 })
  })

  test('flags → filter', async () => {
    const command = selectionFlags(new Command('x').argument('[STREAM...]'))
    const argv = ['--match', 'a/*', '--status', 'init,aborted', '--failed', '--overdue', '--locked', '--key', 'k']
    command.parse([...argv, '--topic', 't', '--tag', 'g', '--tracking-id', 'i', '--since', '1h'], { from: 'user' })
    const { names, ...filter } = filterOf(parsed<SelectionOptions>(command, ['names']), NOON) ?? {}
    expect(names?.prefix).toBe('a/')
    expect([names?.matches('a/b'), names?.matches('a/b/c')]).toEqual([true, false])
    expect(filter).toEqual({
      status: ['init', 'aborted'],
      failed: true,
      overdue: true,
      locked: true,
      key: ['k'],
      topic: ['t'],
      tag: ['g'],
      trackingId: ['i'],
      sinceMs: NOON - 3_600_000,
    })
  })

  test.each([
    ['--match', ''],
    ['--status', 'done'],
    ['--key', ''],
    ['--topic', ''],
    ['--tag', ''],
    ['--tracking-id', ''],
    ['--since', '5'],
    ['--streams', ''],
  ])('%s %j is refused', (flag, value) => {
    const command = selectionFlags(new Command('x')).exitOverride()
    expect(() => command.parse([flag, value], { from: 'user' })).toThrow(flag)
  })
})

describe('a list of names', () => {
  test('has one per line, each used once; blank lines, Windows line ends and a byte order mark are ignored', async () => {
    expect(await listed('\ufeffb\r\n\n  \na\nb')).toEqual({ kind: 'list', names: ['b', 'a'] })
  })

  test('may be ndjson, with the name of a stream or an item of a listing per line', async () => {
    const lines = ['{"name":"a","status":"init"}', ' {"stream":"b","name":"other"}', 'c']
    expect(await listed(lines.join('\n'))).toEqual({ kind: 'list', names: ['a', 'b', 'c'] })
  })

  test('may be standard input with -', async () => {
    expect(await read({ streams: '-' }, { stdin: '\ufeffa\nb\n' })).toEqual({ kind: 'list', names: ['a', 'b'] })
  })

  test.each([
    ['', 'names no stream'],
    ['\n \n', 'names no stream'],
    ['a\n{"key":1}', 'line 2 does not name a stream'],
    ['a\n{"name":', 'line 2 does not name a stream'],
    ['{"name":""}', 'line 1: .*it is empty'],
    ['a\n.leasectl/watchdog', 'line 2: .*reserved'],
  ])('with %j is refused, with the line number', async (text, says) => {
    await expect(listed(text)).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(says) })
    await expect(read({ streams: '-' }, { stdin: text })).rejects.toMatchObject({ code: 'usage' })
  })

  test('an impossible name stays in the list, so that it becomes an outcome of its own', async () => {
    expect(await read({ streams: '-' }, { stdin: 'a\n../b\nb/\n' })).toEqual({
      kind: 'list',
      names: ['a', '../b', 'b/'],
    })
  })

  test('is refused if the file is missing or not text', async () => {
    await expect(read({ streams: 'nix' })).rejects.toThrow('--streams nix cannot be read')
    const { runtime } = fakeRuntime(newWorld(), [])
    const binary = { ...runtime, readFile: async () => Uint8Array.of(0x61, 0xff) }
    await expect(readSelection({ ...none, streams: 'list' }, binary)).rejects.toThrow('cannot be read')
  })

  test('that is too long is refused, not truncated', async () => {
    const { runtime } = fakeRuntime(newWorld(), [])
    const long = { ...runtime, readFile: async () => new Uint8Array(MAX_READ_BYTES + 1).fill(0x61) }
    await expect(readSelection({ ...none, streams: 'list' }, long)).rejects.toThrow('list is too long')
  })
})
