import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sameCommand, shellWord } from '../../../src/cli/command-line.ts'
import type { Context, Contexts } from '../../../src/cli/contexts/contexts.ts'
import type { StoreChoice } from '../../../src/cli/runtime.ts'
import { chooseStore } from '../../../src/cli/store.ts'
import { defaultAddress } from '../../../src/store/open.ts'
import { bodyOf, cli, fakeRuntime, json, newWorld } from '../commands/support.ts'

function context(name: string, store: string, more: Partial<Context> = {}): Context {
  return { name, store, isProtected: false, isReadOnly: false, credentialFile: undefined, ...more }
}

function contextsOf(current: string | undefined, ...all: readonly Context[]): Contexts {
  return { current, previous: undefined, byName: new Map(all.map(one => [one.name, one])) }
}

const TWO = contextsOf('prod', context('dev', 'azurite:dev'), context('prod', 'azure:acc1/prod'))
const AZURE = { AZURE_STORAGE_ACCOUNT: 'acc9', LEASECTL_CONTAINER: 'box' }

const choose = (choice: StoreChoice, env: Record<string, string>, contexts?: Contexts) =>
  chooseStore(choice, env, defaultAddress, contexts)

describe('the selected store', () => {
  const all = { ...AZURE, LEASECTL_STORE: 'azurite:env', LEASECTL_CONTEXT: 'dev' }
  const { LEASECTL_STORE: _, ...withoutStore } = all

  test.each([
    ['--store', { store: 'azurite:one' }, all, TWO, { address: 'azurite:one', source: 'flag' }],
    ['-c', { context: 'dev' }, all, TWO, { address: 'azurite:dev', source: 'context', context: 'dev' }],
    ['LEASECTL_STORE', {}, all, TWO, { address: 'azurite:env', source: 'environment' }],
    ['LEASECTL_CONTEXT', {}, withoutStore, TWO, { address: 'azurite:dev', source: 'context', context: 'dev' }],
    ['the current context', {}, AZURE, TWO, { address: 'azure:acc1/prod', source: 'current', context: 'prod' }],
    ['the Azure variables', {}, AZURE, undefined, { address: 'azure:acc9/box', source: 'azure' }],
    ['--container', { container: 'other' }, AZURE, undefined, { address: 'azure:acc9/other', source: 'azure' }],
    ['the embedded store', {}, { XDG_DATA_HOME: '/data' }, undefined, { source: 'default' }],
    [
      'a variable with an empty value does not count',
      {},
      { LEASECTL_STORE: '', LEASECTL_CONTEXT: '' },
      TWO,
      { context: 'prod' },
    ],
  ] as const)('%s', (_what, choice, env, contexts, wanted) => {
    expect(choose(choice, env, contexts)).toMatchObject(wanted)
  })

  test.each([
    [{ store: 'memory:', context: 'dev' }, {}, '--store and -c both name a store'],
    [{ store: 'memory:', container: 'box' }, {}, '--container and --store both name a store'],
    [{ context: 'dev', container: 'box' }, {}, '--container and -c both name a store'],
    [{ container: 'box' }, { LEASECTL_STORE: 'memory:' }, '--container and LEASECTL_STORE both name a store'],
    [{ container: 'box' }, { LEASECTL_CONTEXT: 'dev' }, '--container and LEASECTL_CONTEXT both name a store'],
    [{ container: 'box' }, {}, '--container and the current context both name a store'],
    [{ store: 'https://acc1.blob.core.windows.net/box?sig=SECRET' }, {}, /^(?!.*SECRET)/],
  ] as const)('%j is refused', (choice, env, why) => {
    expect(() => choose(choice, env, TWO)).toThrow(why)
  })

  test('--container needs a storage account', () => {
    expect(() => choose({ container: 'box' }, {})).toThrow('needs a storage account')
  })

  test('a missing context is reported with the nearest name and all others', () => {
    const fault = { code: 'usage', message: '-c: there is no context prodd' }
    expect(() => choose({ context: 'prodd' }, {}, TWO)).toThrow(expect.objectContaining(fault))
    expect(() => choose({ context: 'prodd' }, {}, TWO)).toThrow(
      expect.objectContaining({ hint: 'did you mean prod? Known: dev, prod.' }),
    )
    expect(() => choose({ context: 'nix', contextFlag: '--also' }, {}, TWO)).toThrow('--also: there is no context nix')
    expect(() => choose({}, { LEASECTL_CONTEXT: 'nix' }, TWO)).toThrow('LEASECTL_CONTEXT: there is no context nix')
    expect(() => choose({}, {}, contextsOf('gone'))).toThrow('the current context: there is no context gone')
    expect(choose({ store: 'memory:' }, {}, contextsOf('gone'))).toMatchObject({ address: 'memory:' })
  })
})

test('a credential file is used for its store, however that is named; two credentials are refused', () => {
  const withKey = (name: string, store: string, credentialFile: string) => context(name, store, { credentialFile })
  const one = contextsOf(undefined, withKey('prod', 'azure:acc1/box', '/k1'), context('same', 'azure:acc1/box'))
  const two = contextsOf(undefined, ...one.byName.values(), withKey('other', 'azure:acc1/box', '/k2'))
  const named = { store: 'https://acc1.blob.core.windows.net/box' }
  expect(choose(named, {}, one)).toMatchObject({ address: 'azure:acc1/box', credentialFile: '/k1' })
  expect(choose({}, { LEASECTL_STORE: 'azure:acc1/box' }, one)).toMatchObject({ credentialFile: '/k1' })
  expect(choose({ context: 'prod' }, {}, two)).toMatchObject({ credentialFile: '/k1' })
  for (const choice of [named, { context: 'same' }]) {
    expect(choose(choice, {}, two)).not.toHaveProperty('credentialFile')
  }
  expect(choose({ store: 'azure:acc1/boxes' }, {}, one)).not.toHaveProperty('credentialFile')
})

describe('a protected context protects its store, however it is named', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'leasectl-protected-'))
    mkdirSync(join(folder, 'real'))
    symlinkSync(join(folder, 'real'), join(folder, 'link'))
    writeFileSync(join(folder, 'real', 'a.db'), '')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each([
    ['azure:acc1/box', 'azure:acc1/box', true],
    ['azure:acc1/box', 'https://acc1.blob.core.windows.net/box', true],
    ['azure:acc1/box', 'http://ACC1.blob.core.windows.net:80/box', true],
    ['azure:acc1/box', 'https://acc1.privatelink.blob.core.windows.net/box', true],
    ['azure:acc1/box', 'azure:acc1/boxes', false],
    ['azure:acc1/box', 'azure:acc2/box', false],
    ['azurite:box', 'http://localhost:10000/devstoreaccount1/box', true],
    ['azurite:box', 'azurite://127.0.0.1:10001/box', false],
  ])('%s and %s', (guarded, named, wanted) => {
    const contexts = contextsOf(undefined, context('p', guarded, { isProtected: true }))
    expect(choose({ store: named }, {}, contexts).isProtected).toBe(wanted)
  })

  test('an embedded store is protected through links and relative paths too, and before it exists', () => {
    const guard = (path: string) =>
      contextsOf(undefined, context('p', `sqlite:${join(folder, path)}`, { isProtected: true }))
    const named = (path: string, contexts: Contexts) => choose({ store: `sqlite:${path}` }, {}, contexts).isProtected
    expect(named(join(folder, 'link', 'a.db'), guard('real/a.db'))).toBe(true)
    expect(named(join(folder, 'link', 'new.db'), guard('real/new.db'))).toBe(true)
    expect(named(join(folder, 'real', '..', 'real', 'a.db'), guard('link/a.db'))).toBe(true)
    expect(named(join(folder, 'real', 'b.db'), guard('real/a.db'))).toBe(false)
    linkSync(join(folder, 'real', 'a.db'), join(folder, 'hard.db'))
    expect(named(join(folder, 'hard.db'), guard('real/a.db'))).toBe(true)
    const relative = join(process.cwd(), 'x.db')
    const here = contextsOf(undefined, context('p', `sqlite:${relative}`, { isProtected: true }))
    expect(named('x.db', here)).toBe(true)
  })

  test('another context of the same store does not remove the protection', () => {
    const both = contextsOf(
      undefined,
      context('safe', 'azure:acc1/box', { isProtected: true }),
      context('open', 'azure:acc1/box'),
    )
    expect(choose({ context: 'open' }, {}, both)).toMatchObject({ isProtected: true })
  })
})

describe('the target of a changing command', () => {
  const set = ['event', 'set', 's', '00', '--tag', 'x']
  const current = { source: 'current', context: 'prod' } as const

  test('is printed if it is not named on this line', async () => {
    const world = newWorld()
    await cli(world, ['init', 's'])
    const told = async (setting: object, ...more: string[]) => (await cli(world, [...set, ...more], setting)).stderr
    expect(await told(current)).toBe('store: memory: (the current context prod)\n')
    expect(await told({ source: 'azure' })).toBe('store: memory: (from the Azure variables of the environment)\n')
    expect(await told(current, '-q')).toBe('')
    expect(await told({ source: 'context', context: 'prod' })).toBe('')
    expect(await told({ source: 'environment' })).toBe('')
    expect(await told({ source: 'context', context: 'prod' }, '-v')).toMatch(/^store: memory: \(the context prod\)\n/)
    expect((await cli(world, ['ls'], current)).stderr).toBe('')
  })

  test('is not printed with JSON: stderr is machine-readable then', async () => {
    const world = newWorld()
    await cli(world, ['init', 's'])
    const ran = await cli(world, ['init', 's', '-o', 'json'], current)
    expect(json(ran.stderr)).toMatchObject({ error: { code: 'exists', exit: 5 } })
  })

  test('is marked if the store is protected', async () => {
    const world = newWorld()
    await cli(world, ['init', 's'])
    const { stderr } = await cli(world, set, { ...current, isProtected: true })
    expect(stderr).toContain('store: memory:, protected (the current context prod)')
  })
})

describe('printed commands select the same store', () => {
  const tried = async (argv: string[], setting: object) => {
    const world = newWorld()
    await cli(world, ['init', 's'])
    await cli(world, ['lease', 'acquire', 's'])
    const { stderr } = await cli(world, [...argv, '--lease-wait', '0'], setting)
    return /try +(.*)/.exec(stderr)?.[1]
  }

  test('by the name of the context, even of the current one: another may be current later', async () => {
    const named = { source: 'context', context: 'prod' }
    expect(await tried(['cancel', 's', '-q'], { ...named, source: 'current' })).toBe(
      'leasectl cancel s -q --lease-wait 60s -c prod',
    )
    expect(await tried(['cancel', 's'], named)).toBe('leasectl cancel s --lease-wait 60s -c prod')
    for (const words of [['-c', 'prod'], ['--context', 'prod'], ['--context=prod'], ['-cprod']]) {
      expect(await tried(['cancel', 's', ...words], named)).toBe(
        `leasectl cancel s ${words.map(shellWord).join(' ')} --lease-wait 60s`,
      )
    }
  })

  test('and keep arguments after --', async () => {
    const { runtime } = fakeRuntime(newWorld(), ['exec', 's', '01', '--', 'make', '--lease-wait', '3'], {
      source: 'environment',
    })
    await runtime.openStore({})
    expect(sameCommand(runtime, { '--lease-wait': '60s' })).toBe(
      'leasectl exec s 01 --lease-wait 60s --store memory: -- make --lease-wait 3',
    )
  })
})

test('leasectl alone prints the context, and whether it is protected', async () => {
  const { exit, stdout } = await cli(newWorld(), [], { source: 'current', context: 'prod', isProtected: true })
  expect(exit).toBe(0)
  expect(stdout).toContain('Store: memory:, protected\n       (the current context prod)\n')
  expect(stdout).toContain('  leasectl ls -c prod')
})

test('demo writes only to the store of --store, otherwise to the embedded one', async () => {
  for (const argv of [
    ['demo', '-c', 'prod'],
    ['demo', '--container', 'box'],
  ]) {
    const world = newWorld()
    expect(await cli(world, argv)).toMatchObject({ exit: 2, stdout: '' })
    expect(await bodyOf(world, 's')).toBeUndefined()
  }
})
