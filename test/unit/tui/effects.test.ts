import { expect, test } from 'vitest'
import { openMemoryStore } from '../../../src/store/memory.ts'
import { Poll } from '../../../src/tui/data/poll/poll.ts'
import { DataStore } from '../../../src/tui/data/store.ts'
import { Effects } from '../../../src/tui/effects.ts'
import type { LineOutput, Ports } from '../../../src/tui/ports.ts'
import { NO_SETTINGS } from '../../../src/tui/settings.ts'
import type { Action } from '../../../src/tui/state/state.ts'

interface Line {
  readonly signal: AbortSignal
  answer(output: LineOutput): void
}

/** Effects with a program whose commands answer when the test says so. */
function begun() {
  const store = openMemoryStore()
  const lines: Line[] = []
  const reported: Action[] = []
  const data = new DataStore()
  const explain: Ports['explain'] = error => ({ code: 'x', message: String(error) })
  const ports = {
    store,
    explain,
    runLine: (_line, _mayWrite, signal) =>
      new Promise<LineOutput>(answer => {
        lines.push({ signal, answer })
      }),
    settings: {
      read: () => ({ settings: NO_SETTINGS, fault: undefined }),
      save: change => {
        if (change.views?.full !== undefined) throw new Error('no space')
        return NO_SETTINGS
      },
    },
  } as Pick<Ports, 'store' | 'explain' | 'runLine' | 'settings'> as Ports
  const poll = new Poll(store, data, { intervalMs: 1_000, explain })
  const effects = new Effects(ports, data, poll, action => void reported.push(action))
  const run = (mayWrite: boolean) => effects.carryOut({ kind: 'run-line', line: 'x', mayWrite })
  return { effects, lines, reported, run }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

test('quitting waits for a command line that may be changing a stream, also for one that was stopped before', async () => {
  const { effects, lines, run } = begun()
  run(true)
  effects.carryOut({ kind: 'stop-line' })
  run(true)
  let hasStopped = false
  const stopped = effects.stop().then(() => {
    hasStopped = true
  })
  expect(lines.map(({ signal }) => signal.aborted)).toEqual([true, true])
  lines[1]?.answer({ exit: 130, lines: [] })
  await turn()
  expect(hasStopped).toBe(false)
  lines[0]?.answer({ exit: 130, lines: [] })
  await stopped
})

test('quitting does not wait for a command line that only reads', async () => {
  const { effects, lines, run } = begun()
  run(false)
  await effects.stop()
  expect(lines[0]?.signal.aborted).toBe(true)
})

test('a stopped command line reports what it has done, but not in the place of the next one', async () => {
  const { effects, lines, run, reported } = begun()
  run(true)
  effects.carryOut({ kind: 'stop-line' })
  lines[0]?.answer({ exit: 130, lines: ['3 done'] })
  await turn()
  expect(reported).toMatchObject([{ kind: 'line-answered', output: { lines: ['3 done'] } }])
  run(true)
  run(true)
  lines[1]?.answer({ exit: 0, lines: ['of the former'] })
  await turn()
  expect(reported).toHaveLength(1)
})

test('settings are saved at once; what prevents that is a notice', () => {
  const { effects, reported } = begun()
  effects.carryOut({ kind: 'save-settings', change: { columns: { streams: ['NAME'] } } })
  const view = { screen: 'streams', filter: '', onlyBroken: true, sort: undefined } as const
  effects.carryOut({ kind: 'save-settings', change: { views: { full: view } } })
  expect(reported).toEqual([
    { kind: 'settings-saved', settings: NO_SETTINGS },
    { kind: 'notice', text: expect.stringContaining('not saved: Error: no space'), style: 'bad' },
  ])
})
