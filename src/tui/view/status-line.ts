import { spacedCount, spacedCounted } from '../../formats/terminal/numbers.ts'
import { livenessOf } from '../../ops/watchdog-state/state.ts'
import type { StepLoad } from '../../ops/workers.ts'
import type { Listing, Scene } from '../state/context.ts'
import type { Sort } from '../state/state.ts'
import { currentHealth, healthRow } from './health.ts'
import { joined, rowOf, type ScreenRow, type StyledText } from './row.ts'
import { safeText } from './safe-text.ts'
import { streamHeader } from './stream/header.ts'
import { dueCell } from './times.ts'

/** The second line: the content of the screen in numbers. */
export function statusRow(scene: Scene): ScreenRow {
  switch (scene.state.screen) {
    case 'streams':
      return healthRow(scene)
    case 'stream':
      return streamHeader(scene)
    case 'leases':
      return lined(scene, [[spacedCounted(scene.listing.total, 'held lease'), 'plain'], ...listParts(scene)])
    case 'watchdog':
      return lined(scene, [...watchdogParts(scene), ...listParts(scene)])
    case 'activity':
      return lined(scene, [...activityParts(scene), ...listParts(scene)])
    case 'workers':
      return lined(scene, [...workerParts(scene), ...listParts(scene)])
    default:
      return scene.state.screen satisfies never
  }
}

function lined({ state }: Scene, parts: readonly StyledText[]): ScreenRow {
  return rowOf([[' ', 'plain'], ...line(parts)], state.size.columns)
}

function line(parts: readonly StyledText[]): StyledText[] {
  return joined(
    parts.map(part => [part]),
    ' · ',
  )
}

/** The filter with its matches, the number of marks, and the order. */
export function listParts({ state, listing, facts }: Scene): StyledText[] {
  const { filter, onlyBroken, marks, sort } = state.lists[state.screen]
  return [
    [state.screen === 'streams' && facts.selection !== '' ? `only ${safeText(facts.selection)}` : '', 'active'],
    [onlyBroken ? `only broken${filter === '' ? `: ${matchesOf(listing)}` : ''}` : '', 'active'],
    [filter === '' ? '' : `filter ${safeText(filter)}: ${matchesOf(listing)}`, 'active'],
    [marks.size === 0 ? '' : `${spacedCount(marks.size)} marked`, 'active'],
    [sort === undefined ? '' : orderText(sort), 'dim'],
  ]
}

function matchesOf({ matching, total }: Listing): string {
  return `${spacedCount(matching)} of ${spacedCount(total)}`
}

/** Words instead of an arrow: the column of failures falls where others rise. */
function orderText({ by, isDescending }: Sort): string {
  return `sorted by ${by}${isDescending ? ', reversed' : ''}`
}

function watchdogParts({ data, nowMs, state }: Scene): StyledText[] {
  if (data.watchdog.state === undefined) return [['watchdogs: not known yet', 'warn']]
  const { watchdogs } = data.watchdog.state
  const live = watchdogs.filter(watchdog => livenessOf(watchdog, nowMs) === 'live').length
  // The watchdogs tell how many there were at their last pass.
  const { overdue } = currentHealth(data.streams, nowMs)
  const next = data.watchdog.next[0]
  const due = next && dueCell(next.dueMs, { nowMs, time: state.time })
  const dueText = typeof due === 'string' ? due : (due?.text ?? '')
  return [
    watchdogs.length === 0
      ? ['no watchdog', 'bad']
      : [`${spacedCounted(watchdogs.length, 'watchdog')}, ${spacedCount(live)} live`, live === 0 ? 'bad' : 'plain'],
    [overdue === 0 ? '' : `! ${spacedCount(overdue)} overdue`, 'warn'],
    [dueText === '' ? '' : `next limit ${dueText}`, 'plain'],
  ]
}

function workerParts({ data: { workers, streams } }: Scene): StyledText[] {
  if (!streams.isComplete) return [['workers: not known yet', 'warn']]
  const { steps, left } = workers
  const sum = (of: (step: StepLoad) => number) => steps.reduce((total, step) => total + of(step), 0)
  const abandoned = sum(step => step.abandoned)
  return [
    [spacedCounted(workers.workers, 'worker'), 'strong'],
    [`▶ ${spacedCount(sum(step => step.running))} running`, 'plain'],
    [abandoned === 0 ? '' : `† ${spacedCount(abandoned)} abandoned`, 'warn'],
    [`${spacedCount(sum(step => step.ready))} ready`, 'plain'],
    [left === 0 ? '' : `${spacedCount(left)} more in large streams`, 'dim'],
  ]
}

function activityParts({ data }: Scene): StyledText[] {
  const { items, behind } = data.activity
  return [
    [spacedCounted(items.length, 'change'), 'plain'],
    [behind === 0 ? '' : `${spacedCounted(behind, 'stream')} still to read`, 'dim'],
  ]
}
