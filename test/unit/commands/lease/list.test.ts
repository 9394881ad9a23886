import { expect, test } from 'vitest'
import { registerLs as register } from '../../../../src/commands/lease.ts'
import type { LeaseView, StreamStore } from '../../../../src/store/store.ts'
import { listing, storeWith } from '../store-with.ts'
import { cli, json, newWorld, optionsFrom, type World } from '../support.ts'

test('argv → options', async () => {
  expect(await optionsFrom(register, ['ls', '--match', 'a/*', '-o', 'json'])).toEqual({ match: 'a/*', output: 'json' })
  expect(await optionsFrom(register, ['list', '--stale'])).toEqual({ stale: 300_000 })
  expect(await optionsFrom(register, ['ls', '--stale', '1h', '-q'])).toEqual({ stale: 3_600_000, quiet: true })
})

/** `a` leased for 30 s, `b/1` without end by process 41 of this host, `c` free. */
async function three(): Promise<World> {
  const world = newWorld()
  for (const name of ['a', 'b/1', 'c']) await cli(world, ['init', name])
  await cli(world, ['lease', 'acquire', 'b/1', '--duration', 'infinite', '-m', 'repair'])
  world.nowMs += 240_000
  await cli(world, ['lease', 'acquire', 'a', '--duration', '30s', '--by', 'worker-7', '-m', 'event complete 01.00'])
  world.nowMs += 8_000
  return world
}

test('the listing shows holder, start and end of leases; free streams are omitted', async () => {
  const ran = await cli(await three(), ['lease', 'ls'], { running: [41] })
  expect(ran).toMatchObject({ exit: 0, stderr: '' })
  expect(ran.stdout.split('\n')).toEqual([
    'STREAM  STATE   HOLDER           HOST      PID  PURPOSE               SINCE     ENDS',
    'a       leased  worker-7         testhost   41  event complete 01.00  8s ago    in 22s',
    'b/1     leased  tester@testhost  testhost   41  repair                4m8s ago  never',
    '',
  ])
})

test('-o json is a document, -o ndjson a line each; the lease id is never shown', async () => {
  const world = await three()
  const document = json((await cli(world, ['lease', 'ls', '-o', 'json', '--match', 'a'])).stdout)
  const item = {
    stream: 'a',
    state: 'leased',
    leaseId: null,
    duration: 'fixed',
    until: '2026-03-01T12:04:30.000Z',
    holder: {
      by: 'worker-7',
      host: 'testhost',
      pid: 41,
      purpose: 'event complete 01.00',
      since: '2026-03-01T12:04:00.000Z',
    },
    lastBy: 'tester@testhost',
    stale: false,
    staleBecause: [],
  }
  expect(document).toEqual({ apiVersion: 'leasectl/v1', items: [item], total: 1 })
  const lines = (await cli(world, ['lease', 'ls', '-o', 'ndjson'])).stdout.trimEnd().split('\n').map(json)
  expect(lines).toMatchObject([
    { apiVersion: 'leasectl/v1', ...item },
    { stream: 'b/1', stale: true },
  ])
})

test('a lease that looks abandoned is mentioned; --stale shows it with the reasons and advice', async () => {
  const world = await three()
  expect((await cli(world, ['lease', 'ls'])).stderr).toBe(
    '1 of 2 leases may be abandoned; --stale lists them with the reasons\n',
  )
  const ran = await cli(world, ['lease', 'ls', '--stale', '1m'], { source: 'flag' })
  expect(ran.stdout.split('\n').slice(1)).toEqual([
    expect.stringMatching(/^b\/1 .* never +held for 4m8s; process 41 no longer runs here$/),
    '',
  ])
  expect(ran.stderr).toBe(
    'check the holder before you break a lease: its unfinished work would be lost\n' +
      'try      leasectl lease break b/1 --store memory:\n',
  )
  const document = json((await cli(world, ['lease', 'ls', '--stale', '-o', 'json'])).stdout)
  expect(document).toMatchObject({ items: [{ stream: 'b/1', staleBecause: ['process-gone'] }], total: 1 })
})

test('the advice for several stale leases is the preview of breaking them all', async () => {
  const world = await three()
  world.nowMs += 60_000
  await cli(world, ['lease', 'acquire', 'a', '--duration', 'infinite', '--by', 'loader'])
  world.nowMs += 20 * 60_000
  const advice = async (...flags: string[]) => {
    const { stderr } = await cli(world, ['lease', 'ls', '--stale', ...flags])
    return stderr.split('\n').at(-2)
  }
  expect(await advice()).toBe('try      leasectl lease break --stale --dry-run')
  const narrowed = await advice('90s', '--match', '{a,b/*}')
  expect(narrowed).toBe("try      leasectl lease break --stale 00:01:30 --match '{a,b/*}' --dry-run")
  const ran = await cli(world, ['lease', 'break', '--stale', '00:01:30', '--match', '{a,b/*}', '--dry-run'])
  expect(ran.stderr).toMatch(/^2 streams:/)
})

test('a lease is not stale while its process runs and it has not been held for long', async () => {
  const ran = await cli(await three(), ['lease', 'ls', '--stale'], { running: [41] })
  expect(ran).toMatchObject({ exit: 0, stderr: 'none of 2 leases in memory: looks stale\n' })
  expect(ran.stdout).toMatch(/^STREAM .* STALE BECAUSE\n$/)
})

test('if the holder is unknown, the last writer is shown; an infinite lease is stale', async () => {
  const world = await three()
  const unknown = (row: { name: string; lease: LeaseView }): LeaseView =>
    row.name === 'c' ? row.lease : { state: 'leased', duration: row.name === 'a' ? 'fixed' : 'infinite' }
  const store: StreamStore = storeWith(
    world.store,
    listing(world.store, row => ({ ...row, lease: unknown(row) })),
  )
  const ran = await cli(world, ['lease', 'ls'], { store })
  expect(ran.stdout.split('\n').slice(1, -1)).toEqual([
    expect.stringMatching(/^a +leased +unknown, last written by tester@testhost +- +- +- +- +-$/),
    expect.stringMatching(/^b\/1 +leased +unknown, last written by tester@testhost +- +- +- +- +never$/),
  ])
  const stale = await cli(world, ['lease', 'ls', '--stale'], { store })
  expect(stale.stdout).toMatch(/\nb\/1 .* infinite, holder unknown\n$/)
})

test('no document is read: streams without a summary are listed as they are', async () => {
  const world = await three()
  const store = storeWith(world.store, {
    ...listing(world.store, ({ summary: _, ...row }) => row),
    read: async () => {
      throw new Error('a document was read')
    },
  })
  const ran = await cli(world, ['lease', 'ls', '-o', 'json'], { store })
  expect(json(ran.stdout)).toMatchObject({ total: 2, items: [{ stream: 'a', lastBy: null }, { stream: 'b/1' }] })
})

test('without leases the output is a header or [], exit 0, and a sentence', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const table = await cli(world, ['lease', 'ls'])
  expect(table).toMatchObject({ exit: 0, stderr: 'no lease is held in memory:\n' })
  expect(table.stdout).toMatch(/^STREAM +STATE.*\n$/)
  const document = await cli(world, ['lease', 'ls', '--match', 'x*', '-o', 'json'])
  expect(json(document.stdout)).toEqual({ apiVersion: 'leasectl/v1', items: [], total: 0 })
  expect(document.stderr).toBe('no matching stream is leased in memory:\n')
})

test('a lease that is breaking is shown with its end and is not stale', async () => {
  const world = await three()
  await cli(world, ['lease', 'break', 'b/1', '--yes', '--period', '30s'])
  const ran = await cli(world, ['lease', 'ls', '--match', 'b/*'])
  expect(ran.stdout).toMatch(/\nb\/1 +breaking .* in 30s\n$/)
  expect(ran.stderr).toBe('')
})
