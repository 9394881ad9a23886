import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { register } from '../../../src/commands/rm.ts'
import { beginAuditEntry } from '../../../src/ops/audit-log.ts'
import type { RemoveOutcome } from '../../../src/store/store.ts'
import { HOLDER, run } from '../ops/support.ts'
import { before, given, namesOf, runFileOf, unreadable } from './batch/support.ts'
import { cli, json, newWorld, optionsFrom, type Setting, statuses, type World } from './support.ts'

const LEASE = '11111111-1111-4111-8111-111111111111'

/** Ended streams. */
async function ended(...names: string[]): Promise<World> {
  const world = newWorld()
  await given(world, names)
  for (const name of names) await run(world.store, name, { op: 'cancel' })
  return world
}

const items = (text: string) => json(text).items as Record<string, unknown>[]
const isThere = async (world: World, name: string) => (await world.store.read(name)) !== undefined

function removing(world: World, answer: RemoveOutcome): Setting {
  const remove = async () => answer
  const get = (target: typeof world.store, key: PropertyKey) => {
    const value: unknown = Reflect.get(target, key)
    if (key === 'remove') return remove
    return typeof value === 'function' ? value.bind(target) : value
  }
  return { store: new Proxy(world.store, { get }) }
}

test('argv → options', async () => {
  expect(await optionsFrom(register, ['rm', 'a', 'b', '--force', '--yes', '-m', 'why', '--expect', '2'])).toEqual({
    names: ['a', 'b'],
    force: true,
    yes: true,
    reason: 'why',
    expect: 2,
  })
  expect(await optionsFrom(register, ['delete', '--match', 'x'])).toEqual({ names: [], match: ['x'] })
})

test('rm prompts even for one stream by name, and shows it; the output line names author and reason', async () => {
  const world = await ended('s')
  const setting = { terminal: true, env: { NO_COLOR: '1' } }
  const no = await cli(world, ['rm', 's'], { ...setting, answer: 'n' })
  expect(no).toMatchObject({
    exit: 2,
    stdout: '',
    questions: ['This permanently removes 1 stream in memory:, including the history. Continue? [y/N] '],
  })
  expect(no.stderr).toMatch(/s +⊘ canceled/)
  expect(await isThere(world, 's')).toBe(true)
  const yes = await cli(world, ['rm', 's', '-m', 'wrong import', '--by', 'ops'], { ...setting, answer: 'y' })
  expect(yes).toMatchObject({ exit: 0, stdout: '✓ s  removed by ops "wrong import"  v2\n' })
  expect(await isThere(world, 's')).toBe(false)
})

test('without a terminal rm needs --yes; from 50 on the number too', async () => {
  const world = await ended(...namesOf(50))
  expect(await cli(world, ['rm', 's000'])).toMatchObject({ exit: 2, stdout: '' })
  expect((await cli(world, ['rm', '--all', '--yes'])).stderr).toContain('--yes --expect 50')
  expect((await cli(world, ['rm', '--all', '--yes', '--expect', '49'])).exit).toBe(5)
  expect(await isThere(world, 's000')).toBe(true)
  const asked = await cli(world, ['rm', '--all'], { terminal: true, answer: '50' })
  expect(asked.exit).toBe(0)
  expect(await isThere(world, 's000')).toBe(false)
})

test('the same command id removes once: what took the name since stays, and what is gone is done', async () => {
  const world = await ended('s', 't')
  const argv = ['rm', 's', '--yes', '--command-id', 'c']
  expect((await cli(world, argv)).stdout).toContain('removed')
  expect(await cli(world, argv)).toMatchObject({ exit: 0, stdout: expect.stringContaining('already') })
  world.nowMs += 2_000
  await given(world, ['s'])
  await run(world.store, 's', { op: 'cancel' })
  const repeated = await cli(world, argv)
  expect(repeated).toMatchObject({ exit: 0, stdout: expect.stringContaining('removed before; this one is newer') })
  expect(await isThere(world, 's')).toBe(true)
  // Of a run that was ended in between, the rest is removed.
  const killed = { ...AUDITED, id: 'k', commandId: 'k', at: new Date(world.nowMs - 1_000).toISOString() }
  await beginAuditEntry(world.store, killed, { by: 'ops' })
  await given(world, ['u'])
  await run(world.store, 'u', { op: 'cancel' })
  const rest = await cli(world, ['rm', 't', 'u', '--yes', '--command-id', 'k'])
  expect(rest.exit).toBe(7)
  expect(rest.stdout + rest.stderr).toContain('u was written after the command ran first')
  expect(await isThere(world, 't')).toBe(false)
  expect(await isThere(world, 'u')).toBe(true)
  expect(await cli(world, ['rm', 's', '--yes', '--command-id', 'other'])).toMatchObject({ exit: 0 })
  expect(await isThere(world, 's')).toBe(false)
})

const AUDITED = { by: 'ops', host: 'h', op: 'rm', why: '', streams: 2, names: ['t', 'u'], source: '' }

test('-o json has the fields of every change, and the author', async () => {
  const world = await ended('s')
  const ran = await cli(world, ['rm', 's', '--yes', '-m', 'why', '--command-id', 'c', '-o', 'json'])
  expect(json(ran.stdout)).toEqual({
    apiVersion: 'leasectl/v1',
    stream: 's',
    event: null,
    outcome: 'done',
    version: 2,
    changed: [],
    closed: [],
    joined: [],
    opened: [],
    added: [],
    done: true,
    duplicate: false,
    commandId: 'c',
    reason: 'why',
    error: null,
    by: 'tester@testhost',
  })
})

describe('an open stream', () => {
  test('is refused, exit 5; --force removes it', async () => {
    const world = newWorld()
    await given(world, ['s'], ['A'])
    const refused = await cli(world, ['rm', 's', '--yes'])
    expect(refused).toMatchObject({ exit: 5, stdout: '' })
    expect(refused.stderr).toContain('[still-open]')
    expect(await isThere(world, 's')).toBe(true)
    expect((await cli(world, ['rm', 's', '--yes', '--force'])).exit).toBe(0)
    expect(await isThere(world, 's')).toBe(false)
  })

  test('among others is left and reported; it does not count for --expect', async () => {
    const world = await ended('a', 'b')
    await given(world, ['open'])
    const ran = await cli(world, ['rm', '--all', '--yes', '--expect', '2', '-o', 'json'])
    expect(ran.exit).toBe(7)
    expect(items(ran.stdout)).toMatchObject([
      { stream: 'a', outcome: 'done' },
      { stream: 'b', outcome: 'done' },
      { stream: 'open', outcome: 'refused', error: { code: 'still-open', exit: 5 } },
    ])
    const preview = await cli(world, ['rm', '--all', '--dry-run'])
    expect(preview.stdout).toMatch(/open +▶ inprocess .*still-open/)
  })

  test('that was reopened after the preview is not removed', async () => {
    const world = await ended('a')
    const store = before(world.store, 'remove', async () => {
      await run(world.store, 'a', { op: 'retry', canceled: true })
    })
    const ran = await cli(world, ['rm', 'a', '--yes'], { store })
    expect(ran.exit).toBe(5)
    expect(ran.stderr).toContain('[changed]')
    expect((await statuses(world, 'a'))['00']).toBe('inprocess')
  })
})

test('an unreadable document is removed only with --force', async () => {
  const world = newWorld()
  await unreadable(world, 'bad')
  const refused = await cli(world, ['rm', 'bad', '--yes'])
  expect(refused.exit).toBe(12)
  expect(refused.stderr).toContain('--force removes it anyway')
  expect((await cli(world, ['rm', 'bad', '--yes', '--force'])).exit).toBe(0)
  expect(await isThere(world, 'bad')).toBe(false)
})

test('a missing name is exit 3 and nothing is removed; one removed since the preview says already', async () => {
  const world = await ended('a', 'b')
  expect((await cli(world, ['rm', 'a', 'nix', '--yes'])).exit).toBe(3)
  expect(await isThere(world, 'a')).toBe(true)
  const store = before(world.store, 'remove', name => world.store.remove(name, {}))
  const ran = await cli(world, ['rm', 'a', 'b', '--yes', '-o', 'json'], { store })
  expect(ran.exit).toBe(0)
  expect(items(ran.stdout)).toMatchObject([{ outcome: 'already' }, { outcome: 'already' }])
})

describe('leases', () => {
  test('of another make a stream busy; under the given lease it is removed', async () => {
    const world = await ended('s')
    await world.store.acquireLease('s', { leaseId: LEASE, durationS: -1, holder: HOLDER })
    const held = await cli(world, ['rm', 's', '--yes', '--lease-wait', '0s'])
    expect(held).toMatchObject({ exit: 6, stdout: '' })
    expect(held.stderr).toContain('held by')
    const other = LEASE.replaceAll('1', '2')
    expect((await cli(world, ['rm', 's', '--yes', '--lease-id', other])).exit).toBe(11)
    expect(await isThere(world, 's')).toBe(true)
    expect((await cli(world, ['rm', 's', '--yes', '--lease-id', LEASE])).exit).toBe(0)
    expect(await isThere(world, 's')).toBe(false)
  })

  test('do not affect --if-version, which removes only that version', async () => {
    const world = await ended('s')
    expect((await cli(world, ['rm', 's', '--yes', '--if-version', '1'])).exit).toBe(5)
    expect((await cli(world, ['rm', 's', '--yes', '--if-version', '2'])).exit).toBe(0)
  })
})

test('a stream that was removed and created again since the preview stays, exit 5', async () => {
  const world = await ended('s')
  const store = before(world.store, 'remove', async name => {
    await world.store.remove(name, {})
    await cli(world, ['init', name])
  })
  const ran = await cli(world, ['rm', 's', '--yes'], { store })
  expect(ran).toMatchObject({ exit: 5, stdout: '' })
  expect(ran.stderr).toContain('s was replaced by a new stream of the same name; the new one was not removed')
  expect(await isThere(world, 's')).toBe(true)
})

test('a missing answer is unknown, exit 10', async () => {
  const world = await ended('s')
  const ran = await cli(world, ['rm', 's', '--yes'], removing(world, { kind: 'unknown', cause: new Error('hush') }))
  expect(ran).toMatchObject({ exit: 10, stdout: '' })
})

test('--rerun: a removed stream is done, another stream of that name stays', async () => {
  const world = await ended('a', 'b', 'c')
  const silent = removing(world, { kind: 'unknown', cause: new Error('hush') })
  const ran = await cli(world, ['rm', 'a', 'b', 'c', '--yes'], silent)
  expect(ran.exit).toBe(7)
  await world.store.remove('a', {})
  await world.store.remove('b', {})
  await cli(world, ['init', 'b'])
  await cli(world, ['cancel', 'b'])
  const again = await cli(world, ['rm', '--rerun', runFileOf(ran), '--yes', '-o', 'json'])
  expect(items(again.stdout)).toMatchObject([
    { stream: 'a', outcome: 'already' },
    { stream: 'b', outcome: 'changed' },
    { stream: 'c', outcome: 'done' },
  ])
  expect(await isThere(world, 'b')).toBe(true)
})

test('--rerun keeps --force, or adds it', async () => {
  const world = newWorld()
  await given(world, ['a', 'b'])
  const ran = await cli(world, ['rm', 'a', 'b', '--yes'])
  expect(ran.stderr).toContain('2 refused')
  const path = runFileOf(ran)
  expect((await cli(world, ['rm', '--rerun', path, '--yes'])).exit).toBe(7)
  expect((await cli(world, ['rm', '--rerun', path, '--only', 'refused', '--force', '--yes'])).exit).toBe(0)
  await given(world, ['a', 'b'])
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace('"force":false', '"force":true').replaceAll('"born":"b0"', '"born":null'),
  )
  expect((await cli(world, ['rm', '--rerun', path, '--yes'])).exit).toBe(0)
})
