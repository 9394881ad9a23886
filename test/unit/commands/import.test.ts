import { chmodSync, copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as otherWork } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { register } from '../../../src/commands/import.ts'
import { AUDIT_LOG, readAuditLog } from '../../../src/ops/audit-log.ts'
import { ContainerMissing, NotPermitted, StoreFull, StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { HOLDER, init, intercept, run } from '../ops/support.ts'
import { before, given, namesOf, unreadable } from './batch/support.ts'
import { storeWith } from './store-with.ts'
import { bodyOf, cli, json, newWorld, optionsFrom, type World } from './support.ts'
import { folder } from './transfer/support.ts'

const MOVED = 'azurite:old'

/** A world with streams, and the setting in which another command line uses it as a second store. */
async function withStreams(...names: string[]) {
  const world = newWorld()
  await given(world, names, ['A'])
  return { world, others: { [MOVED]: storeNamed(world.store, MOVED) } }
}

/** The memory store has one address; a second one has another. */
function storeNamed(store: StreamStore, address: string): StreamStore {
  return storeWith(store, { address })
}

/** A folder with an export of these streams. */
async function exported(...names: string[]): Promise<{ world: World; path: string }> {
  const { world } = await withStreams(...names)
  const path = folder()
  const ran = await cli(world, ['export', '--all', '--to', path])
  if (ran.exit !== 0) throw new Error(ran.stderr)
  return { world, path }
}

async function namesIn(store: StreamStore): Promise<string[]> {
  const names: string[] = []
  for await (const page of store.list({})) names.push(...page.map(({ name }) => name))
  return names
}

const outcomes = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map(line => json(line))
    .map(({ stream, outcome }) => [stream, outcome])

test('argv → options', async () => {
  const argv = ['import', 'a', 'sqlite:b', '--prefix', 'old/', '--match', 'x*', '--replace', '--yes', '--expect', '3']
  expect(await optionsFrom(register, argv)).toEqual({
    sources: ['a', 'sqlite:b'],
    prefix: 'old',
    match: 'x*',
    replace: true,
    yes: true,
    expect: 3,
  })
})

describe('a folder', () => {
  test('restores the name and the bytes of each stream', async () => {
    const { world, path } = await exported('orders/4711', 'a.xml/b', 'con')
    const here = newWorld()
    const ran = await cli(here, ['import', path])
    expect(ran).toMatchObject({ exit: 0, stderr: '3 streams: 3 done\n' })
    expect(ran.stdout).toContain(`✓ done     orders/4711  created  ${path}/orders/4711.xml  v1\n`)
    expect(await namesIn(here.store)).toEqual(['a.xml/b', 'con', 'orders/4711'])
    expect(await bodyOf(here, 'orders/4711')).toBe(await bodyOf(world, 'orders/4711'))
  })

  test('repeated, counts identical streams as done', async () => {
    const { path } = await exported('a', 'b')
    const here = newWorld()
    await cli(here, ['import', path])
    expect(await cli(here, ['import', path])).toMatchObject({ exit: 0, stderr: '2 streams: 2 already\n' })
  })

  test('imports below a prefix, and only matching names', async () => {
    const { path } = await exported('orders/1', 'orders/2/x', 'other')
    const here = newWorld()
    await cli(here, ['import', path, '--prefix', 'old/2026/', '--match', 'orders/*'])
    expect(await namesIn(here.store)).toEqual(['old/2026/orders/1'])
  })

  test('with other files in it: they are omitted and counted', async () => {
    const { path } = await exported('a')
    mkdirSync(join(path, 'sub'))
    for (const file of ['README.md', 'sub/a.json', 'sub/a%zz.xml', '.leasectl-1.tmp', '%2Eleasectl%2Fx.xml']) {
      writeFileSync(join(path, file), 'x')
    }
    symlinkSync(join(path, 'a.xml'), join(path, 'linked.xml'))
    symlinkSync(path, join(path, 'loop'))
    const here = newWorld()
    const ran = await cli(here, ['import', path])
    expect(ran.exit).toBe(0)
    expect(ran.stderr).toContain(`skipped 7 files of ${path}`)
    expect(await namesIn(here.store)).toEqual(['a'])
  })

  test('with a file for a name with a backslash: it fails by name, and the others are imported', async () => {
    const { world } = await withStreams('a')
    const from = folder()
    expect((await cli(world, ['export', '--all', '--to', from])).exit).toBe(0)
    copyFileSync(join(from, 'a.xml'), join(from, 'c%5Cd.xml'))
    const here = newWorld()
    const { exit, stdout, stderr } = await cli(here, ['import', from])
    expect(exit).toBe(7)
    expect(stdout + stderr).toContain('it has a backslash')
    expect(await bodyOf(here, 'a')).toBe(await bodyOf(world, 'a'))
  })

  test('that is empty: a sentence, exit 0', async () => {
    expect(await cli(newWorld(), ['import', folder()])).toMatchObject({ exit: 0, stderr: 'nothing to import\n' })
  })

  test('of JSON is exit 2: JSON is only for reading', async () => {
    const { world } = await withStreams('a')
    const path = folder()
    await cli(world, ['export', '--all', '-o', 'json', '--to', path])
    for (const source of [path, join(path, 'a.json')]) {
      const ran = await cli(newWorld(), ['import', source])
      expect(ran).toMatchObject({ exit: 2, stdout: '' })
      expect(ran.stderr).toContain('JSON cannot be imported')
    }
  })
})

describe('a file', () => {
  test('gets its name from the flag, otherwise from the file', async () => {
    const { path } = await exported('a')
    const here = newWorld()
    await cli(here, ['import', join(path, 'a.xml')])
    await cli(here, ['import', join(path, 'a.xml'), '--name', 'orders/1'])
    expect(await namesIn(here.store)).toEqual(['a', 'orders/1'])
  })

  test('without a name is exit 2', async () => {
    const path = join(folder(), 'document')
    writeFileSync(path, '<EventStream/>')
    const ran = await cli(newWorld(), ['import', path])
    expect(ran).toMatchObject({ exit: 2 })
    expect(ran.stderr).toContain('--name')
  })

  test('that is not an event stream is exit 12, and nothing is written', async () => {
    const path = join(folder(), 'bad.xml')
    writeFileSync(path, '<EventStream><Event id="00"></EventStream>')
    const here = newWorld()
    const ran = await cli(here, ['import', path])
    expect(ran).toMatchObject({ exit: 12, stdout: '' })
    expect(ran.stderr).toMatch(/bad: line 1, column \d+/)
    expect(await namesIn(here.store)).toEqual([])
  })
})

describe('another store', () => {
  test('is copied without removing anything in the target', async () => {
    const { world, others } = await withStreams('a', 'b')
    const here = newWorld()
    expect(await cli(here, ['import', MOVED], { others })).toMatchObject({ exit: 0, stderr: '2 streams: 2 done\n' })
    expect(await namesIn(here.store)).toEqual(['a', 'b'])
    expect(await bodyOf(here, 'a')).toBe(await bodyOf(world, 'a'))
    expect(await namesIn(world.store)).toEqual(['a', 'b'])
  })

  test('can be the target of an export in the same way', async () => {
    const { world } = await withStreams('a', 'b')
    const there = newWorld()
    const ran = await cli(world, ['export', '--all', '--to', MOVED], { others: { [MOVED]: there.store } })
    expect(ran).toMatchObject({ exit: 0, stderr: '2 streams: 2 done\n' })
    expect(await bodyOf(there, 'b')).toBe(await bodyOf(world, 'b'))
  })

  test('can be a file: to SQLite and back', async () => {
    const { world } = await withStreams('a', 'b')
    const address = `sqlite:${join(folder(), 'streams.db')}`
    expect((await cli(world, ['export', '--all', '--to', address])).exit).toBe(0)
    const here = newWorld()
    expect((await cli(here, ['import', address])).exit).toBe(0)
    for (const name of ['a', 'b']) expect(await bodyOf(here, name)).toBe(await bodyOf(world, name))
  })

  test('a source store that does not exist is exit 3, and the target itself as source exit 2', async () => {
    const missing = await cli(newWorld(), ['import', `sqlite:${join(folder(), 'typo.db')}`])
    expect(missing).toMatchObject({ exit: 3 })
    expect(missing.stderr).toContain('there is no store at sqlite:')
    const { world, others } = await withStreams('a')
    const self = await cli(world, ['import', MOVED], { others, store: storeNamed(world.store, MOVED) })
    expect(self).toMatchObject({ exit: 2 })
    expect(self.stderr).toContain('is also the target store')
  })

  test('whose streams vanish meanwhile: they are counted', async () => {
    const { world } = await withStreams('a', 'b')
    const store = before(world.store, 'read', async name => {
      if (name === 'b') await world.store.remove('b', {})
    })
    const ran = await cli(newWorld(), ['import', MOVED], { others: { [MOVED]: storeNamed(store, MOVED) } })
    expect(ran).toMatchObject({ exit: 0, stderr: '2 streams: 1 done, 1 vanished meanwhile\n' })
  })

  test('with an unreadable document among good ones: reported, the rest continues', async () => {
    const { world, others } = await withStreams('a', 'c')
    await unreadable(world, 'b')
    const here = newWorld()
    const ran = await cli(here, ['import', MOVED, '-o', 'ndjson'], { others })
    expect(ran.exit).toBe(7)
    expect(outcomes(ran.stdout)).toEqual([
      ['a', 'done'],
      ['b', 'failed'],
      ['c', 'done'],
    ])
    expect(await namesIn(here.store)).toEqual(['a', 'c'])
  })
})

describe('over existing streams', () => {
  /** `a` identical, `b` later here, `c` later there, `d` only there. */
  async function both() {
    const { world, path } = await exported('a', 'b', 'c')
    const here = newWorld()
    await cli(here, ['import', path])
    const set = (store: StreamStore, name: string) =>
      run(store, name, { op: 'set', event: '00', attributes: { tag: 'x' } })
    await set(here.store, 'b')
    await set(world.store, 'c')
    await run(world.store, 'd', init())
    await cli(world, ['export', '--all', '--to', path, '--replace'])
    return { here, world, path }
  }

  test('a different stream is refused, the rest continues, exit 7', async () => {
    const { here, path } = await both()
    const [b, c] = [await bodyOf(here, 'b'), await bodyOf(here, 'c')]
    const ran = await cli(here, ['import', path, '-o', 'ndjson'])
    expect(ran.exit).toBe(7)
    expect(outcomes(ran.stdout)).toEqual([
      ['a', 'already'],
      ['b', 'refused'],
      ['c', 'refused'],
      ['d', 'done'],
    ])
    expect(json(ran.stderr.split('\n').at(-2) ?? '')).toMatchObject({
      error: { code: 'batch-incomplete', applied: 'yes', hint: expect.stringContaining('--replace') },
    })
    expect([await bodyOf(here, 'b'), await bodyOf(here, 'c')]).toEqual([b, c])
  })

  test('--skip-existing leaves it without a complaint', async () => {
    const { here, path } = await both()
    const ran = await cli(here, ['import', path, '--skip-existing'])
    expect(ran).toMatchObject({ exit: 0, stderr: '4 streams: 1 done, 1 already, 2 skipped\n' })
  })

  test('--replace prompts, shows the names, and overwrites streams that are not older', async () => {
    const { here, world, path } = await both()
    const b = await bodyOf(here, 'b')
    const ask = ['import', path, '--replace']
    const no = await cli(here, ask, { terminal: true, answer: '' })
    expect(no).toMatchObject({
      exit: 2,
      stdout: '',
      questions: ['This replaces 1 stream in memory:. Continue? [y/N] '],
    })
    expect(no.stderr).toContain('to be replaced:\n  c\n')
    expect(await here.store.read('d')).toBeUndefined()
    const ran = await cli(here, [...ask, '-o', 'ndjson'], { terminal: true, answer: 'y' })
    expect(ran.exit).toBe(7)
    expect(outcomes(ran.stdout)).toEqual([
      ['a', 'already'],
      ['b', 'refused'],
      ['c', 'done'],
      ['d', 'done'],
    ])
    expect(ran.stdout).toContain('a version never goes back to 1')
    expect(await bodyOf(here, 'b')).toBe(b)
    expect(await bodyOf(here, 'c')).toBe(await bodyOf(world, 'c'))
  })

  test('without a terminal --replace needs --yes', async () => {
    const { here, path } = await both()
    const no = await cli(here, ['import', path, '--replace'])
    expect(no).toMatchObject({ exit: 2, stdout: '' })
    expect(no.stderr).toContain('--yes answers yes')
    expect((await cli(here, ['import', path, '--replace', '--yes'])).exit).toBe(7)
  })

  test('--dry-run shows the plan and does nothing', async () => {
    const { here, path } = await both()
    const c = await bodyOf(here, 'c')
    const ran = await cli(here, ['import', path, '--replace', '--dry-run'])
    expect(ran.exit).toBe(0)
    expect(ran.stdout.split('\n').map(line => line.split(/ {2,}/).slice(0, 3))).toEqual([
      ['✓ already', 'a', 'identical'],
      ['✗ refused', 'b', 'the stream is at version 2, and a version never goes back to 1'],
      ['○ todo', 'c', 'would be replaced'],
      ['○ todo', 'd', 'would be created'],
      [''],
    ])
    expect(await bodyOf(here, 'c')).toBe(c)
    expect(await here.store.read('d')).toBeUndefined()
  })

  test('--expect must be exact', async () => {
    const { here, path } = await both()
    const argv = ['import', path, '--replace', '--yes']
    expect(await cli(here, [...argv, '--expect', '2'])).toMatchObject({ exit: 5, stdout: '' })
    expect((await cli(here, [...argv, '--expect', '1'])).exit).toBe(7)
  })

  test('a stream that changed after the preview is left: only the previewed change is made', async () => {
    const { here, path } = await both()
    let looked = 0
    const store = before(here.store, 'create', async name => {
      if (name !== 'c' || looked++ > 0) return
      await run(here.store, 'c', { op: 'set', event: '00', attributes: { tag: 'theirs' } })
    })
    const ran = await cli(here, ['import', path, '--replace', '--yes', '-o', 'ndjson'], { store })
    expect(outcomes(ran.stdout)).toContainEqual(['c', 'changed'])
    expect(await bodyOf(here, 'c')).toContain('tag="theirs"')
  })

  test('a stream leased by another is busy', async () => {
    const { here, path } = await both()
    const leaseId = '11111111-1111-4111-8111-111111111111'
    await here.store.acquireLease('c', { leaseId, durationS: 60, holder: HOLDER })
    const ran = await cli(here, ['import', path, '--replace', '--yes', '--lease-wait', '0', '-o', 'ndjson'])
    expect(outcomes(ran.stdout)).toContainEqual(['c', 'busy'])
  })

  test('a stream without an answer is unknown, distinguished from failed', async () => {
    const { here, path } = await both()
    const store = intercept(here.store, async (name, decide, go) =>
      name === AUDIT_LOG ? go(decide) : { kind: 'unknown', cause: new Error('no answer') },
    )
    const ran = await cli(here, ['import', join(path, 'c.xml'), '--replace', '--yes', '-o', 'json'], { store })
    expect(ran.exit).toBe(10)
    expect(json(ran.stdout)).toMatchObject({ items: [{ stream: 'c', outcome: 'unknown' }], counts: { unknown: 1 } })
    expect(json(ran.stderr)).toMatchObject({ error: { code: 'unknown', applied: 'unknown' } })
  })

  test('from 50 streams on their number must be typed', async () => {
    const names = namesOf(50)
    const { others } = await withStreams(...names)
    const here = newWorld()
    for (const name of names)
      await run(here.store, name, { ...init(), born: 'another life' } as ReturnType<typeof init>)
    const argv = ['import', MOVED, '--replace']
    const setting = { others, terminal: true }
    expect((await cli(here, argv, { ...setting, answer: 'y' })).exit).toBe(2)
    expect((await cli(here, [...argv, '--yes'], { others })).exit).toBe(2)
    expect(await cli(here, argv, { ...setting, answer: '50' })).toMatchObject({ exit: 0 })
  })
})

describe('a protected store', () => {
  test('prompts for the number before anything is created', async () => {
    const { others } = await withStreams('a', 'b')
    const here = newWorld()
    const setting = { others, terminal: true, isProtected: true }
    const no = await cli(here, ['import', MOVED], { ...setting, answer: 'y' })
    expect(no).toMatchObject({ exit: 2, stdout: '' })
    expect(no.questions).toEqual(['This creates 2 streams in memory:, a protected store. Type 2 to continue: '])
    expect(await namesIn(here.store)).toEqual([])
    expect(await cli(here, ['import', MOVED], { ...setting, answer: '2' })).toMatchObject({ exit: 0 })
  })

  test('prompts as the target of an export too', async () => {
    const { world } = await withStreams('a')
    const there = newWorld()
    const setting = { others: { [MOVED]: there.store }, protectedOthers: [MOVED] }
    const ran = await cli(world, ['export', '--all', '--to', MOVED], setting)
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain('protected')
    expect(await namesIn(there.store)).toEqual([])
    expect((await cli(world, ['export', '--all', '--to', MOVED, '--yes'], setting)).exit).toBe(0)
  })
})

describe('a missing container', () => {
  function missing() {
    const here = newWorld()
    let made = 0
    const there = () => {
      if (made === 0) throw new ContainerMissing('there is no container streams')
    }
    const store = storeWith(here.store, {
      address: 'azure:acct/streams',
      create: async (...args) => {
        there()
        return here.store.create(...args)
      },
      read: async (...args) => {
        there()
        return here.store.read(...args)
      },
      createContainer: async () => {
        await otherWork()
        made += 1
      },
    })
    return { here, store, made: () => made }
  }

  test('is exit 3 with the flag that creates it, at once', async () => {
    const { others } = await withStreams(...namesOf(30))
    const { here, store, made } = missing()
    const ran = await cli(here, ['import', MOVED], { others, store })
    expect(ran.exit).toBe(3)
    expect(ran.stderr).toContain('--create-container')
    expect(made()).toBe(0)
  })

  test('is created once with --create-container', async () => {
    const { others } = await withStreams(...namesOf(30))
    for (const more of [[], ['--replace', '--yes']]) {
      const { here, store, made } = missing()
      const ran = await cli(here, ['import', MOVED, '--create-container', ...more], { others, store })
      expect(ran).toMatchObject({ exit: 0, stderr: '30 streams: 30 done\n' })
      expect(made()).toBe(1)
    }
  })
})

test('a full store ends the import at once: existing streams stay, and repeating continues', async () => {
  const { others } = await withStreams(...namesOf(40))
  const here = newWorld()
  let room = 5
  const store = storeWith(here.store, {
    create: async (...args) => {
      if (args[0] !== AUDIT_LOG && room-- <= 0) throw new StoreFull('no room left')
      return here.store.create(...args)
    },
  })
  const ran = await cli(here, ['import', MOVED, '--concurrency', '2'], { others, store })
  expect(ran.exit).toBe(9)
  expect(ran.stderr).toMatch(/error: no room left .*\[store-full\]/)
  expect(await namesIn(here.store)).toHaveLength(5)
  expect(await cli(here, ['import', MOVED], { others })).toMatchObject({ stderr: '40 streams: 35 done, 5 already\n' })
})

test('an unreachable store is exit 9 after only a few requests', async () => {
  const { others } = await withStreams(...namesOf(60))
  let asked = 0
  const create = async () => {
    asked += 1
    throw new StoreUnreachable('no route')
  }
  const here = newWorld()
  const ran = await cli(here, ['import', MOVED], { others, store: storeWith(here.store, { create }) })
  expect(ran.exit).toBe(9)
  expect(asked).toBeLessThan(30)
})

test('an interrupted import completes what is in flight, exit 130', async () => {
  const { others } = await withStreams(...namesOf(30))
  const here = newWorld()
  const interruption = new AbortController()
  const store = before(here.store, 'create', name => {
    if (name === 's004') interruption.abort('SIGINT')
  })
  const ran = await cli(here, ['import', MOVED, '--concurrency', '1'], { others, store, signal: interruption.signal })
  expect(ran.exit).toBe(130)
  expect(await namesIn(here.store)).toEqual(['s000', 's001', 's002', 's003', 's004'])
})

test('of two sources with the same name the second is refused, with --replace too', async () => {
  const { others } = await withStreams('a')
  const { path } = await exported('a')
  writeFileSync(join(path, 'a.xml'), (await bodyOf((await withStreams('a')).world, 'a'))?.replace('"b0"', '"b1"') ?? '')
  for (const more of [[], ['--replace', '--yes']]) {
    const here = newWorld()
    const ran = await cli(here, ['import', MOVED, path, '-o', 'ndjson', ...more], { others })
    expect(outcomes(ran.stdout)).toEqual([
      ['a', 'done'],
      ['a', 'refused'],
    ])
  }
})

test('a file without read permission is reported, the rest continues', async () => {
  const { path } = await exported('a', 'b')
  rmSync(join(path, 'a.xml'))
  mkdirSync(join(path, 'closed'))
  writeFileSync(join(path, 'closed', 'c.xml'), '<x')
  chmodSync(join(path, 'closed', 'c.xml'), 0)
  const here = newWorld()
  const ran = await cli(here, ['import', path])
  expect(ran.exit).toBe(7)
  expect(await namesIn(here.store)).toEqual(['b'])
})

test.each([
  ['import', 'missing required argument'],
  ['import=', 'SOURCE is empty'],
  ['import nowhere', 'no such file or folder: nowhere'],
  ['import memory:', 'gone when this command ends'],
  ['import azure:x', 'azure:ACCOUNT/CONTAINER'],
  ['import . --name s', '--name is for a single file'],
  ['import a.json', 'JSON cannot be imported'],
  ['import . --replace --skip-existing', 'opposites'],
  ['import . --prefix ../x', 'segment'],
  ['import . --prefix .leasectl', 'reserved'],
  ['import . --name .leasectl/x', 'reserved'],
  ['import . -o table', 'text, json, ndjson'],
])('%s is exit 2', async (line, hint) => {
  const argv = line === 'import=' ? ['import', ''] : line.split(' ')
  const at = folder()
  writeFileSync(join(at, 'a.json'), '{}')
  const ran = await cli(
    newWorld(),
    argv.map(word => (word === 'a.json' ? join(at, word) : word === '.' ? at : word)),
  )
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain(hint)
})

test('a source that fails in the middle: streams copied before are reported in a complete document', async () => {
  const { world } = await withStreams(...namesOf(3))
  const list: StreamStore['list'] = async function* (query) {
    for await (const page of world.store.list(query)) yield page
    throw new StoreUnreachable('it is gone')
  }
  const target = newWorld()
  const setting = { others: { [MOVED]: storeWith(storeNamed(world.store, MOVED), { list }) } }
  const ran = await cli(target, ['import', MOVED, '-o', 'json'], setting)
  expect(ran.exit).toBe(9)
  expect(json(ran.stdout)).toMatchObject({ total: 3, counts: { done: 3 } })
  expect(json(ran.stderr.split('\n').at(-2) ?? '')).toMatchObject({
    error: { code: 'store-unreachable', applied: 'yes' },
  })
  expect(await namesIn(target.store)).toEqual(namesOf(3))
})

test('an import is an entry in the audit log: who, from where, why, and what became of it', async () => {
  const { others } = await withStreams('a', 'b')
  const here = newWorld()
  expect(await cli(here, ['import', MOVED, '-m', 'moved house', '--by', 'ops'], { others })).toMatchObject({ exit: 0 })
  expect(await readAuditLog(here.store, {})).toMatchObject([
    {
      ...{ op: 'import', by: 'ops', host: 'testhost', why: 'moved house', source: MOVED },
      ...{ names: ['a', 'b'], streams: undefined, end: { counts: { done: 2 } } },
    },
  ])
  expect(await cli(here, ['import', MOVED], { others })).toMatchObject({ exit: 0 })
  expect((await readAuditLog(here.store, {})).at(-1)).toMatchObject({ names: [], end: { counts: { already: 2 } } })
})

test('an import that was killed is in the audit log without an end', async () => {
  const { others } = await withStreams('a', 'b')
  const here = newWorld()
  const store = storeWith(here.store, {
    create: async (...args) => {
      if (args[0] !== AUDIT_LOG) throw new Error('killed')
      return here.store.create(...args)
    },
  })
  expect(await cli(here, ['import', MOVED], { others, store })).toMatchObject({ exit: 1 })
  expect(await readAuditLog(here.store, {})).toMatchObject([{ op: 'import', end: undefined }])
})

test('a dry run is not in the audit log', async () => {
  const { others } = await withStreams('a')
  const here = newWorld()
  await cli(here, ['import', MOVED, '--dry-run'], { others })
  expect(await readAuditLog(here.store, {})).toEqual([])
})

test('nothing is imported if the audit log cannot be written', async () => {
  const { others } = await withStreams('a')
  const here = newWorld()
  const store = storeWith(here.store, {
    create: async (...args) => {
      if (args[0] === AUDIT_LOG) throw new NotPermitted('no right to write')
      return here.store.create(...args)
    },
  })
  const ran = await cli(here, ['import', MOVED], { others, store })
  expect(ran).toMatchObject({ exit: 4, stdout: '' })
  expect(ran.stderr).toContain('no right to write; nothing was changed')
  expect(await namesIn(here.store)).toEqual([])
})

test('a source that is neither a file nor a folder is refused: a pipe would block it', async () => {
  const ran = await cli(newWorld(), ['import', '/dev/null', '--name', 'orders/1'])
  expect(ran.exit).toBe(2)
  expect(ran.stderr).toContain('/dev/null is neither a file nor a folder')
})

test.each([[[]], [['--replace', '--yes']]])(
  'a file that is no stream is said to be bad, not the stream %j',
  async more => {
    const { world } = await withStreams('good')
    const path = join(folder(), 'bad.xml')
    writeFileSync(path, 'garbage')
    const ran = await cli(world, ['import', path, '--name', 'good', ...more])
    expect(ran.exit).toBe(12)
    expect(ran.stderr).toContain(`This is ${path}, which is not copied; the stream was not changed.`)
    expect(ran.stderr).not.toContain('rm --force')
  },
)
