import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  registerAdd as add,
  register as group,
  registerTest as testOf,
  registerUse as use,
} from '../../../src/commands/context.ts'
import { NotPermitted } from '../../../src/store/errors.ts'
import { storeWith } from './store-with.ts'
import { cli, json, newWorld, optionsFrom, type Setting } from './support.ts'

let folder = ''
const file = () => join(folder, 'leasectl', 'contexts.json')

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasectl-context-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const run = (line: string, setting: Setting = {}, world = newWorld()) =>
  cli(world, ['context', ...line.split(' ').filter(word => word !== '')], {
    ...setting,
    env: { XDG_CONFIG_HOME: folder, ...setting.env },
  })

async function listed() {
  return json((await run('list -o json')).stdout).items
}

describe('arguments', () => {
  test('add', async () => {
    const argv = [
      'add',
      'prod',
      '--store',
      'azure:acc1/box',
      '--protected',
      '--credential-file',
      'k',
      '--use',
      '--replace',
    ]
    expect(await optionsFrom(add, argv)).toEqual({
      name: 'prod',
      store: 'azure:acc1/box',
      protected: true,
      credentialFile: 'k',
      use: true,
      replace: true,
    })
  })

  test('use takes a name, - or --none', async () => {
    expect(await optionsFrom(use, ['use', 'prod'])).toMatchObject({ name: 'prod' })
    expect(await optionsFrom(use, ['use', '-'])).toMatchObject({ name: '-' })
    expect(await optionsFrom(use, ['use', '--none'])).toMatchObject({ name: undefined })
  })

  test('without arguments it shows the current context, with - it goes back', async () => {
    expect(await optionsFrom(group, ['context'])).toEqual({ back: false })
    expect(await optionsFrom(group, ['context', '-', '-o', 'json'])).toEqual({ back: true, output: 'json' })
  })

  test.each([
    ['add', 'missing required argument'],
    ['add prod', 'which store?'],
    ['add a/b --store azurite:box', 'letters, digits'],
    ['add - --store azurite:box', 'letters, digits'],
    ['add x --store nix', 'not a store address'],
    ['add x --store memory:', 'only lives for one command'],
    ['add x -c y', 'context add NAME --store ADDRESS'],
    ['add x --store sqlite:x --credential-file /k', 'needs no credential file'],
    ['add x --store azurite:box --credential-file /nowhere/k', 'is missing'],
    ['use', 'which context?'],
    ['use x --none', 'exclude each other'],
    ['use nix', 'there is no context nix'],
    ['remove nix', 'there is no context nix'],
    ['test x --store azurite:box', 'both name a store'],
    ['-', 'no previous context'],
    ['use -', 'no previous context'],
    ['lst', 'Did you mean list?'],
    ['nix', 'One of add, set, list, ls, use, remove, rm, test.'],
    ['-o yaml', 'text, json'],
    ['list --nam', 'unknown option'],
    ['add x --store azurite:box --protect', 'Did you mean --protected?'],
  ])('%s is exit 2, and nothing is written', async (line, hint) => {
    const ran = await run(line)
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain(hint)
    expect(await listed()).toEqual([])
  })
})

test('a signature in an address is refused and not repeated', async () => {
  const ran = await run('add x --store https://acc1.blob.core.windows.net/box?sv=1&sig=SECRET --debug')
  expect(ran.exit).toBe(2)
  expect(ran.stderr).not.toContain('SECRET')
  expect(() => readFileSync(file())).toThrow('ENOENT')
})

test('an added context is listed in normal form and readable by this user only', async () => {
  expect(await run('add prod --store https://acc1.blob.core.windows.net/box --protected')).toMatchObject({
    exit: 0,
    stdout: 'added: prod  azure:acc1/box, protected\n',
  })
  await run('add dev --store sqlite:some/where.db -q')
  expect(await listed()).toEqual([
    {
      name: 'dev',
      store: `sqlite:${join(process.cwd(), 'some/where.db')}`,
      protected: false,
      readOnly: false,
      credentialFile: null,
      current: false,
    },
    { name: 'prod', store: 'azure:acc1/box', protected: true, readOnly: false, credentialFile: null, current: false },
  ])
  expect((await run('list -o name')).stdout).toBe('dev\nprod\n')
  expect((await run('ls')).stdout).toMatch(/^ {3}prod +azure:acc1\/box +yes$/m)
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'leasectl')).mode & 0o777).toBe(0o700)
})

test('adding the same context again is fine; another one of that name needs --replace', async () => {
  await run('add prod --store azure:acc1/box --protected')
  expect((await run('add prod --store azure:acc1/box --protected')).stdout).toContain('already: prod')
  const taken = await run('add prod --store azure:acc1/other -o json')
  expect(json(taken.stderr)).toMatchObject({ error: { code: 'exists', exit: 5, applied: 'no' } })
  expect((await run('add prod --store azure:acc1/box')).exit).toBe(5)
  const replaced = await run('add prod --store azure:acc1/other --replace')
  expect(replaced.stdout).toBe('replaced: prod  azure:acc1/other\n')
  expect(replaced.stderr).toContain('it was protected and no longer is')
})

test('a context is made read-only and protected, and back, and each listing says it', async () => {
  await run('add prod --store azure:acc1/box --read-only')
  expect((await run('-c prod')).stdout).toBe('prod  azure:acc1/box, read-only\n')
  expect((await run('set prod --read-only')).stdout).toBe('already: prod  azure:acc1/box, read-only\n')
  expect((await run('set prod --protected')).stdout).toBe('changed: prod  azure:acc1/box, protected, read-only\n')
  expect(await listed()).toMatchObject([{ name: 'prod', protected: true, readOnly: true }])
  expect((await run('list')).stdout).toMatch(/^ {3}prod +azure:acc1\/box +yes +yes$/m)
  expect(readFileSync(file(), 'utf8')).toContain('"readOnly": true')
  const set = await run('set prod --no-read-only --no-protected -o json')
  expect(json(set.stdout)).toMatchObject({ outcome: 'changed', context: { protected: false, readOnly: false } })
  expect(readFileSync(file(), 'utf8')).not.toContain('readOnly')
})

test('replacing a read-only context says that it was one', async () => {
  await run('add prod --store azure:acc1/box --read-only')
  const { stderr } = await run('add prod --store azure:acc1/other --replace')
  expect(stderr).toContain('it was read-only and no longer is')
})

test.each([
  ['set prod', 'nothing to change'],
  ['set nix --read-only', 'there is no context nix'],
  ['set --read-only', 'CONTEXT'],
])('context %s is exit 2, and nothing is written', async (line, message) => {
  await run('add prod --store azure:acc1/box')
  const before = readFileSync(file(), 'utf8')
  const { exit, stderr } = await run(line)
  expect([exit, readFileSync(file(), 'utf8')]).toEqual([2, before])
  expect(stderr).toContain(message)
})

test('one context is current, - switches back and forth, --none clears it', async () => {
  await run('add dev --store azurite:dev')
  await run('add prod --store azurite:prod --use')
  expect(await run('')).toMatchObject({ exit: 0, stdout: 'prod  azurite:prod\n', stderr: '' })
  expect((await run('use dev')).stdout).toBe('dev  azurite:dev\n')
  expect((await run('-')).stdout).toBe('prod  azurite:prod\n')
  expect((await run('use -')).stdout).toBe('dev  azurite:dev\n')
  expect((await run('use dev')).stdout).toBe('dev  azurite:dev\n')
  expect((await run('-')).stdout).toBe('prod  azurite:prod\n')
  expect((await run('list')).stdout).toMatch(/^\* {2}prod/m)
  expect((await run('use --none')).stdout).toBe('there is no current context\n')
  expect(await run('')).toMatchObject({ exit: 0, stdout: '', stderr: 'there is no current context\n' })
  expect(json((await run('-o json')).stdout)).toEqual({ apiVersion: 'leasectl/v1', context: null })
  expect(json((await run('- -o json')).stdout)).toMatchObject({ context: { name: 'prod', current: true } })
  expect((await run('-c dev')).stdout).toBe('dev  azurite:dev\n')
})

test('settings that take precedence over the current context are mentioned', async () => {
  await run('add dev --store azurite:dev')
  for (const variable of ['LEASECTL_STORE', 'LEASECTL_CONTEXT']) {
    const { stderr } = await run('use dev', { env: { [variable]: 'x' } })
    expect(stderr).toContain(`${variable} is set: it takes precedence over the current context`)
    expect((await run('', { env: { [variable]: 'x' } })).stderr).toContain(variable)
  }
})

test('remove deletes the name, even if it is current', async () => {
  await run('add dev --store azurite:dev')
  await run('add prod --store azurite:prod --protected')
  await run('use dev')
  await run('use prod')
  const ran = await run('rm prod')
  expect(ran.stdout).toBe('removed: prod  azurite:prod, protected\n')
  expect(ran.stderr).toContain('it was the current context; now there is none')
  expect(ran.stderr).toContain('no longer protected')
  expect(await run('')).toMatchObject({ exit: 0, stdout: '' })
  expect(json((await run('remove dev -o json')).stdout)).toMatchObject({
    outcome: 'removed',
    context: { name: 'dev', store: 'azurite:dev' },
  })
  expect((await run('-')).stderr).toContain('no previous context')
  expect(await listed()).toEqual([])
})

test('an empty list is its header or [], with a sentence', async () => {
  expect(await run('list')).toMatchObject({ exit: 0, stdout: '   NAME  STORE  PROTECTED  READ-ONLY  CREDENTIALS\n' })
  expect((await run('list')).stderr).toContain('leasectl context add NAME --store ADDRESS adds one')
  expect(json((await run('list -o json')).stdout)).toEqual({ apiVersion: 'leasectl/v1', items: [] })
})

test('a current context that was deleted from the file is reported; another can be made current', async () => {
  await run('add dev --store azurite:dev')
  await run('add prod --store azurite:prod --use')
  writeFileSync(file(), readFileSync(file(), 'utf8').replace('"prod": {', '"stage": {'))
  expect(await run('')).toMatchObject({ exit: 2, stdout: '' })
  expect((await run('')).stderr).toContain('the current context: there is no context prod')
  expect((await run('list')).exit).toBe(0)
  expect((await run('use dev')).exit).toBe(0)
  expect((await run('use -')).stderr).toContain('the previous context: there is no context prod')
})

describe('test', () => {
  test('prints what doctor -c CONTEXT prints, in every format', async () => {
    for (const format of ['', ' -o json', ' -o ndjson']) {
      const setting: Setting = { source: 'context', context: 'prod' }
      const world = newWorld()
      const tested = await run(`test prod${format}`, setting, world)
      expect(tested.exit).toBe(0)
      expect(withoutTimes(tested.stdout)).toMatch(/remove/)
      const doctor = await cli(newWorld(), ['doctor', '-c', 'prod', ...format.split(' ').slice(1)], setting)
      expect(withoutTimes(tested.stdout)).toBe(withoutTimes(doctor.stdout))
    }
  })

  test('tests the store of the argument, or the selected one', async () => {
    const options = (line: string) => optionsFrom(testOf, line.split(' '))
    expect(await options('test prod')).toEqual({ context: 'prod', names: [] })
    expect(await options('test')).toEqual({ names: [] })
    expect(await options('test -c dev')).toEqual({ context: 'dev', names: [] })
  })

  test('takes one name only', async () => {
    expect(await run('test prod -c dev')).toMatchObject({ exit: 2, stdout: '' })
    expect((await run('test prod --store sqlite:x')).stderr).toContain('the argument and a flag both name a store')
  })

  test('exits with the code of the first step that fails', async () => {
    const world = newWorld()
    const store = storeWith(world.store, {
      acquireLease: () => Promise.reject(new NotPermitted('no rights', { hint: 'ask for them' })),
    })
    expect(await run('test', { store }, world)).toMatchObject({
      exit: 4,
      stdout: expect.stringContaining('no rights'),
      stderr: expect.stringContaining('[not-permitted]'),
    })
  })
})

/** Durations differ from run to run. */
function withoutTimes(text: string): string {
  return text.replace(/[\d.]+ ms/g, 'ms').replace(/"ms":[\d.]+/g, '"ms"')
}
