import { expect, it } from 'vitest'
import type { WorkersView } from '../../../../src/tui/data/types.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { DEMO_WORKERS } from '../support/demo-data.ts'
import { frameText, sceneWith } from '../support/scenes.ts'

function screen(more: Partial<WorkersView> = {}, columns = 120, height = 40): string {
  const workers = { ...DEMO_WORKERS, ...more }
  const rows = more.rows?.map(({ key }) => key)
  const size = { columns, rows: height }
  return frameText(frameOf(sceneWith({ size, workers, state: { screen: 'workers' }, ...(rows && { rows }) })))
}

it('an abandoned event is marked with a glyph and a word at every width', () => {
  for (const columns of [40, 60, 80, 120]) expect(screen({}, columns, 12)).toMatch(/† p\S*@aks-9 +abandoned 40m/)
})

it('each step shows its queue and its longest wait', () => {
  expect(screen()).toMatch(/Search +240 +1 +2h ago/)
})

it('a worker without claims shows since when, and what it did in the last minute', () => {
  expect(screen()).toMatch(/○ worker-2 +idle 5s +orders\/4711 .* 12$/m)
})

it('without workers the screen says how one is started, and still shows the queues', () => {
  const shown = screen({ rows: [], workers: 0 })
  expect(shown).toContain('no worker has claimed an event')
  expect(shown).toContain('leasectl work -- PROGRAM')
  expect(shown).toMatch(/Search +240/)
})

it('steps use the rows that the list of workers leaves free', () => {
  const [step] = DEMO_WORKERS.steps
  if (step === undefined) throw new Error('no step')
  const steps = Array.from({ length: 10 }, (_, at) => ({ ...step, step: `Step ${at}` }))
  const shown = screen({ steps, rows: [], workers: 0 }, 80, 24)
  expect(shown.match(/Step \d+/g)).toHaveLength(10)
  expect(shown).toContain('leasectl work -- PROGRAM')
})

it('steps that do not fit are counted', () => {
  const [step] = DEMO_WORKERS.steps
  if (step === undefined) throw new Error('no step')
  const steps = Array.from({ length: 50 }, (_, at) => ({ ...step, step: `Step ${at}` }))
  const shown = screen({ steps }, 80, 24)
  const listed = shown.match(/Step \d+/g)?.length ?? 0
  expect(listed).toBeGreaterThan(2)
  expect(shown).toContain(`and ${50 - listed} more`)
})
