import { spacedCount, spacedCounted } from '../../formats/terminal/numbers.ts'
import { cutInside, widthOf } from '../../formats/terminal/width.ts'
import { livenessOf } from '../../ops/watchdog-state/state.ts'
import type { Scene } from '../state/context.ts'
import { joined, rowOf, type ScreenRow, type StyledText, widthOfSpans } from './row.ts'
import { safeText } from './safe-text.ts'
import { streamHeader } from './stream/header.ts'
import { dueCell } from './times.ts'

/** The second line: the content of the screen in numbers. */
export function statusRow(scene: Scene): ScreenRow {
  switch (scene.state.screen) {
    case 'streams':
      return withAddress(scene, [...streamCounts(scene), ...listParts(scene)])
    case 'stream':
      return streamHeader(scene)
    case 'leases':
      return lined(scene, [[spacedCounted(scene.listing.total, 'held lease'), 'plain'], ...listParts(scene)])
    case 'watchdog':
      return lined(scene, [...watchdogParts(scene), ...listParts(scene)])
    case 'activity':
      return lined(scene, [...activityParts(scene), ...listParts(scene)])
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

/** With the store's address at the right, if there is room. */
function withAddress({ state, facts }: Scene, parts: readonly StyledText[]): ScreenRow {
  const left: StyledText[] = [[' ', 'plain'], ...line(parts)]
  const room = state.size.columns - widthOfSpans(left) - 3
  const address = cutInside(safeText(facts.address), Math.max(0, room))
  if (room < LEAST_ADDRESS && widthOf(address) < widthOf(facts.address)) return rowOf(left, state.size.columns)
  const gap = ' '.repeat(Math.max(2, room + 2 - widthOf(address)))
  return rowOf([...left, [gap, 'plain'], [address, 'dim']], state.size.columns)
}

const LEAST_ADDRESS = 12

function streamCounts({ data }: Scene): StyledText[] {
  const { size, isComplete } = data.streams
  return [[`${spacedCounted(size, 'stream')}${isComplete ? '' : ' so far'}`, 'plain']]
}

/** The filter with its matches, the number of marks, and the order. */
function listParts({ state, listing }: Scene): StyledText[] {
  const { filter, marks, sort } = state.lists[state.screen]
  return [
    [filter === '' ? '' : `${spacedCounted(listing.matching, 'matches', 'match')} "${safeText(filter)}"`, 'active'],
    [marks.size === 0 ? '' : `${spacedCount(marks.size)} marked`, 'active'],
    [sort === undefined ? '' : `sorted by ${sort.by} ${sort.isDescending ? '↓' : '↑'}`, 'dim'],
  ]
}

function watchdogParts({ data, nowMs, state }: Scene): StyledText[] {
  const watchdogs = data.watchdog.state?.watchdogs ?? []
  const live = watchdogs.filter(watchdog => livenessOf(watchdog, nowMs) === 'live').length
  const next = data.watchdog.next[0]
  const due = next && dueCell(next.dueMs, { nowMs, time: state.time })
  const dueText = typeof due === 'string' ? due : (due?.text ?? '')
  return [
    watchdogs.length === 0
      ? ['no watchdog', 'plain']
      : [`${spacedCounted(watchdogs.length, 'watchdog')}, ${spacedCount(live)} live`, live === 0 ? 'bad' : 'plain'],
    [dueText === '' ? '' : `next limit ${dueText}`, 'plain'],
  ]
}

function activityParts({ data }: Scene): StyledText[] {
  const { items, behind } = data.activity
  return [
    [spacedCounted(items.length, 'change'), 'plain'],
    [behind === 0 ? '' : `${spacedCounted(behind, 'stream')} still to read`, 'dim'],
  ]
}
