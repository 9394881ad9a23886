import { expect, test } from 'vitest'
import { readAuditLog } from '../../../../src/ops/audit-log.ts'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { given } from '../batch/support.ts'
import { cli, newWorld, type World } from '../support.ts'
import { carry, look, portsOver, streams, wordsOf } from './support.ts'

async function leased(...names: readonly string[]): Promise<World> {
  const world = newWorld()
  await given(world, [...names, 'free'])
  for (const name of names) await cli(world, ['lease', 'acquire', name, '--by', 'worker-7', '-m', 'repair'])
  return world
}

const ID = '11111111-1111-4111-8111-111111111111'

const state = async (world: World, name = 's') => (await world.store.read(name))?.lease.state

test('the preview names the holder and asks for the name of the stream', async () => {
  const ports = await portsOver(await leased('s'))
  const preview = await look(ports, 'break', [{ stream: 's', event: '01.00' }])
  expect(preview).toMatchObject({
    verb: 'break',
    question: 'This breaks the lease of s',
    count: 1,
    confirm: { kind: 'type', text: 's', what: 'the name of the stream' },
  })
  expect(preview.affected[0]).toMatch(/^s {2}leased by worker-7@testhost \(pid 41\) for 0s, "repair"/)
  expect(preview.command('')).toBe('leasectl lease break s')
  expect(preview.command('gone')).toBe('leasectl lease break s -m gone')
})

test('the same lease is broken', async () => {
  const world = await leased('s')
  const ports = await portsOver(world)
  const carried = await carry(ports, await look(ports, 'break', streams('s')))
  expect(carried.outcomes).toEqual([{ target: { stream: 's' }, word: 'done', isGood: true, text: 'lease broken' }])
  expect(await state(world)).not.toBe('leased')
})

test('a lease that changed hands since is not broken', async () => {
  const world = await leased('s')
  const ports = await portsOver(world)
  const preview = await look(ports, 'break', streams('s'))
  await cli(world, ['lease', 'break', 's', '--yes'])
  world.nowMs += 1_000
  await cli(world, ['lease', 'acquire', 's', '--by', 'worker-8'])
  const carried = await carry(ports, preview)
  expect(wordsOf(carried)).toEqual(['changed s'])
  expect(carried.outcomes[0]?.text).toContain('changed hands')
  expect(await state(world)).toBe('leased')
})

test('a lease that ended meanwhile no longer exists', async () => {
  const world = await leased()
  await cli(world, ['lease', 'acquire', 'free', '--lease-id', ID])
  const ports = await portsOver(world)
  const preview = await look(ports, 'break', streams('free'))
  await cli(world, ['lease', 'release', 'free', '--lease-id', ID])
  expect(await carry(ports, preview)).toMatchObject({
    outcomes: [{ word: 'already', isGood: true, text: 'already so' }],
  })
})

test('of several streams only the leased ones are broken, after their number was typed', async () => {
  const world = await leased('a', 'b')
  const ports = await portsOver(world)
  const preview = await look(ports, 'break', streams('a', 'free', 'b', 'nix', 'a'))
  expect(preview).toMatchObject({
    question: 'This breaks the lease of 2 streams',
    count: 2,
    confirm: { kind: 'type', text: '2', what: 'the number of leases' },
  })
  expect(preview.facts).toContain('1 stream not leased, left out')
  expect(preview.facts).toContain('1 stream no longer there')
  const carried = await carry(ports, preview)
  expect(wordsOf(carried)).toEqual(['done a', 'done b'])
  expect(carried.end.lines[0]).toBe('2 done; 1 not leased, left out')
})

test('without a lease the preview has no target', async () => {
  const preview = await look(await portsOver(await leased()), 'break', streams('free'))
  expect(preview).toMatchObject({ question: 'There is no lease to break', count: 0, facts: ['no lease is held'] })
})

test('a name that cannot be typed is not prompted for', async () => {
  const name = `x/${'long'.repeat(20)}`
  const preview = await look(await portsOver(await leased(name)), 'break', streams(name))
  expect(preview.confirm).toMatchObject({ text: '1' })
})

test('the equivalent command takes all names; of very many it reads them', async () => {
  const ports = await portsOver(await leased('a', 'b'))
  expect((await look(ports, 'break', streams('a', 'b'))).command('')).toBe('leasectl lease break a b')
  const many = streams(...Array.from({ length: 1_021 }, (_, at) => `nowhere/${at}`))
  expect((await look(ports, 'break', many)).command('')).toMatch(/^leasectl lease break --streams - {2}# 1021 names/)
})

test('a break has its reason in the journal and in the audit log, as that of the command', async () => {
  const world = await leased('s')
  const ports = await portsOver(world)
  await carry(ports, await look(ports, 'break', streams('s')), 'worker-7 is gone')
  const entry = { why: 'worker-7 is gone', by: 'tester@testhost' }
  expect((await readStream(world.store, 's'))?.transactions().at(-1)).toMatchObject({ op: 'break-lease', ...entry })
  expect(await readAuditLog(world.store, {})).toMatchObject([
    { op: 'break-lease', names: ['s'], end: { counts: { done: 1 } }, ...entry },
  ])
})
