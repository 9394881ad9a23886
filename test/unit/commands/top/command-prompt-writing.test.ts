import { expect, test } from 'vitest'
import type { Kind } from '../../../../src/cli/runtime.ts'
import { portsOf } from '../../../../src/commands/top/ports.ts'
import { given, namesOf } from '../batch/support.ts'
import { storeWith } from '../store-with.ts'
import { fakeRuntime, newWorld, type World } from '../support.ts'
import { carry, look, never, streams } from './support.ts'

/** Streams, the state of the program at each of their changes, and its reports on stopped changes. */
async function dashboardOf(names: readonly string[], onChange: () => void = () => {}) {
  const world: World = newWorld()
  await given(world, names)
  const kinds: Kind[] = []
  const store = storeWith(world.store, {
    update: (...change) => {
      kinds.push(runtime.kind)
      return world.store.update(...change).finally(onChange)
    },
  })
  const { runtime } = fakeRuntime(world, ['top'], { store })
  const stopped: (readonly string[])[] = []
  const opened = await runtime.openStore({})
  const ports = portsOf(
    opened,
    { mayUnlock: true, onSwitch: async () => {}, onStopped: lines => void stopped.push(lines) },
    runtime,
  )
  return { runtime, kinds, ports, stopped }
}

test('the program counts as writing exactly while a line changes streams', async () => {
  const { runtime, kinds, ports } = await dashboardOf(['a', 'b'])
  const [first, second] = await Promise.all([
    ports.runLine('cancel a', true, never),
    ports.runLine('cancel b', true, never),
  ])
  expect([first.exit, second.exit, kinds, runtime.kind]).toEqual([0, 0, ['writes', 'writes'], 'reads'])
  await ports.runLine('doctor', true, never)
  await ports.runLine('cancel', true, never)
  expect(runtime.kind).toBe('reads')
})

test('the store of a changing line is looked up for writing', async () => {
  const { runtime, ports } = await dashboardOf(['a'])
  const { describeStore } = runtime
  const kinds: Kind[] = []
  Object.assign(runtime, {
    describeStore: (choice: Parameters<typeof describeStore>[0]) => {
      kinds.push(runtime.kind)
      return describeStore(choice)
    },
  })
  await ports.runLine('cancel a --store memory:', true, never)
  await ports.runLine('ls --store memory:', true, never)
  expect([kinds[0], kinds.at(-1)]).toEqual(['writes', 'reads'])
})

test('a stopped batch reports how it ended and how the rest can be done', async () => {
  const stop = new AbortController()
  const names = namesOf(60)
  const { ports, stopped } = await dashboardOf(names, () => stop.abort())
  const preview = await look(ports, 'cancel', streams(...names))
  const { end } = await carry(ports, preview, 'late', stop.signal)
  expect(stopped).toEqual([['cancel was stopped', ...end.lines]])
  expect(stopped[0]?.join('\n')).toMatch(/not started[\s\S]*run file: [\s\S]*the rest: leasectl cancel --rerun/)
})

test('a stopped single change reports its outcome; an undisturbed one reports nothing', async () => {
  const stop = new AbortController()
  const { ports, stopped } = await dashboardOf(['a', 'b'], () => stop.abort())
  const [a, b] = [await look(ports, 'cancel', streams('a')), await look(ports, 'cancel', streams('b'))]
  await carry(ports, a, '', stop.signal)
  await carry(ports, b)
  expect(stopped).toHaveLength(1)
  expect(stopped[0]?.slice(0, 2)).toEqual(['cancel was stopped', 'a  canceled'])
})

test('a line that was stopped during a change is reported too', async () => {
  const stop = new AbortController()
  const { ports, stopped } = await dashboardOf(namesOf(60), () => stop.abort('SIGINT'))
  await ports.runLine('cancel --all --yes --expect 60 --concurrency 1', true, stop.signal)
  expect(stopped[0]?.join('\n')).toMatch(
    /^:cancel --all [^\n]* was stopped\n[\s\S]*1 done; 59 not started[\s\S]*run file/,
  )
  await ports.runLine('ls', true, AbortSignal.abort('SIGINT'))
  expect(stopped).toHaveLength(1)
})
