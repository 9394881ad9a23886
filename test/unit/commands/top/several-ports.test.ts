import { expect, test } from 'vitest'
import { LineRunner, Writing } from '../../../../src/commands/top/command-prompt.ts'
import { severalPorts } from '../../../../src/commands/top/several-ports.ts'
import { init, run } from '../../ops/support.ts'
import { fakeRuntime, newWorld, type World } from '../support.ts'
import { carry, look, never, portsOver, streams, wordsOf } from './support.ts'

interface Shown {
  readonly isProtected?: boolean
}

const NOTHING = () => {}

/** The ports over two stores, each with `o/1` and `o/2`. */
async function twoStores(eu: Shown = {}, us: Shown = {}) {
  const worlds: { [context: string]: World } = {}
  const stores = []
  for (const [context, { isProtected = false }] of Object.entries({ eu, us })) {
    const world = newWorld()
    worlds[context] = world
    for (const name of ['o/1', 'o/2']) await run(world.store, name, init(['Search']))
    const setting = { source: 'context', context, isProtected } as const
    const opened = await fakeRuntime(world, ['top'], setting).runtime.openStore({})
    stores.push({ context, store: world.store, intervalMs: 100, opened, ports: await portsOver(world, setting) })
  }
  const { runtime } = fakeRuntime(newWorld(), ['top'])
  const writing = new Writing(runtime)
  const lines = new LineRunner(
    stores.map(({ opened }) => opened),
    { mayUnlock: true, writing, onStopped: NOTHING },
    runtime,
  )
  const ports = severalPorts(stores, { lines, onSwitch: async () => {}, listCommand: () => 'leasectl ls -c eu,us' })
  const status = async (context: string, name: string) =>
    (await worlds[context]?.store.read(name))?.summary?.status ?? 'none'
  return { ports, status, stores }
}

test('a change goes to the store of its row alone, and the question names it', async () => {
  const { ports, status } = await twoStores()
  const preview = await look(ports, 'cancel', streams('us:o/1'))
  expect(preview.question).toBe('This cancels o/1 in us')
  expect(preview.place).toEqual({ address: 'us  memory:', isProtected: false })
  expect(preview.command('why')).toBe('leasectl cancel o/1 -m why -c us')
  expect(wordsOf(await carry(ports, preview))).toEqual(['done us:o/1'])
  expect([await status('eu', 'o/1'), await status('us', 'o/1')]).toEqual(['inprocess', 'canceled'])
})

test('a change of several stores names each, and reports each target by its store', async () => {
  const { ports, status } = await twoStores()
  const preview = await look(ports, 'cancel', streams('us:o/1', 'eu:o/1', 'us:o/2'))
  expect(preview.question).toBe('This cancels o/1 in eu; this cancels 2 streams in us')
  expect(preview.count).toBe(3)
  expect(preview.affected[0]).toMatch(/^eu: o\/1/)
  expect(preview.command('')).toBe('leasectl cancel o/1 -c eu && leasectl cancel o/1 o/2 -c us')
  const carried = await carry(ports, preview)
  expect(wordsOf(carried)).toEqual(['done eu:o/1', 'done us:o/1', 'done us:o/2'])
  expect(await status('eu', 'o/2')).toBe('inprocess')
})

test('of several stores a protected one asks for the number, also if others are changed with it', async () => {
  const { ports } = await twoStores({}, { isProtected: true })
  expect(ports.isProtected).toBe(true)
  expect(ports.protectedName).toBe('us')
  const open = await look(ports, 'cancel', streams('eu:o/1'))
  expect([open.place?.isProtected, open.confirm]).toEqual([false, { kind: 'yes' }])
  const guarded = await look(ports, 'cancel', streams('us:o/1'))
  expect(guarded).toMatchObject({ place: { isProtected: true }, confirm: { kind: 'type', text: '1' } })
  const both = await look(ports, 'cancel', streams('eu:o/1', 'us:o/1'))
  expect(both).toMatchObject({ place: { isProtected: true }, confirm: { kind: 'type', text: '2' } })
})

test('two protected stores are unlocked by both names', async () => {
  expect((await twoStores({ isProtected: true }, { isProtected: true })).ports.protectedName).toBe('eu,us')
})

test('a store that fails keeps no other from its changes, and is told', async () => {
  const { ports, stores, status } = await twoStores()
  const preview = await look(ports, 'cancel', streams('eu:o/1', 'us:o/1'))
  const eu = stores[0]
  if (eu === undefined) throw new Error('no store')
  Object.assign(eu.ports, { carryOut: () => Promise.reject(new Error('gone')) })
  const { outcomes, end } = await carry(ports, preview)
  expect(outcomes.map(({ target }) => target.stream)).toEqual(['us:o/1'])
  expect(end.lines.some(line => line.startsWith('eu: '))).toBe(true)
  expect([await status('eu', 'o/1'), await status('us', 'o/1')]).toEqual(['inprocess', 'canceled'])
})

test('nothing is started in the stores after a stop', async () => {
  const { ports, status } = await twoStores()
  const preview = await look(ports, 'cancel', streams('eu:o/1', 'us:o/1'))
  const { end } = await carry(ports, preview, '', AbortSignal.abort())
  expect(end.lines).toEqual(['eu: not started; nothing was changed', 'us: not started; nothing was changed'])
  expect(await status('eu', 'o/1')).toBe('inprocess')
})

test('the command for what is shown names the store of a stream, and all stores for a list', async () => {
  const { ports } = await twoStores()
  expect(ports.commandFor({ kind: 'streams', filter: '' })).toBe('leasectl ls -c eu,us')
  expect(ports.commandFor({ kind: 'stream', stream: 'us:o/1', pane: 'tree' })).toBe('leasectl show o/1 -c us')
  expect(ports.commandFor({ kind: 'leases' })).toBe('leasectl lease ls -c eu && leasectl lease ls -c us')
  expect(ports.commandFor({ kind: 'activity' })).toBe('leasectl tail -f -c eu & leasectl tail -f -c us')
})

test('a dry run is made in each store; one that fails is told, and all failing is a fault', async () => {
  const { ports, stores } = await twoStores()
  expect(await ports.dryRun(never)).toMatchObject({ kind: 'done', total: 0, breaker: undefined })
  const fail = { dryRun: () => Promise.reject(new Error('gone')) }
  for (const at of stores.slice(0, 1)) Object.assign(at.ports, fail)
  expect((await ports.dryRun(never)).fault).toMatch(/^1 store left out: eu: /)
  for (const at of stores) Object.assign(at.ports, fail)
  await expect(ports.dryRun(never)).rejects.toThrow('gone')
})

test('a command line names its store, unless it reads several', async () => {
  const { ports } = await twoStores()
  const ran = await ports.runLine('show o/1', false, never)
  expect(ran.exit).toBe(2)
  expect(ran.lines.join('\n')).toContain('Add -c eu or -c us.')
})

test('a line is completed with the names of all stores, each once', async () => {
  const { ports, stores } = await twoStores()
  const [, us] = stores
  if (us === undefined) throw new Error('no store')
  await run(us.store, 'p/3', init(['Search']))
  expect(await ports.completeLine('show ', never)).toEqual(['o/1', 'o/2', 'p/3'])
  expect(await ports.completeLine('show p', never)).toEqual(['p/3'])
})
