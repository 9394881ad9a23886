import { spacedCount, spacedCounted } from '../../formats/terminal/numbers.ts'
import { cut, widthOf } from '../../formats/terminal/width.ts'
import type { InboxView } from '../../inbox/view.ts'
import type { StepLoad } from '../../ops/steps.ts'
import { livenessOf } from '../../ops/watchdog-state/state.ts'
import type { Listing, Scene } from '../state/context.ts'
import { filterOf } from '../state/lists/filters.ts'
import type { Sort } from '../state/state.ts'
import { currentHealth } from './health.ts'
import { newsOf } from './news.ts'
import { joined, rowOf, type ScreenRow, type StyledText, widthOfSpans } from './row.ts'
import { safeText } from './safe-text.ts'
import { dueCell } from './times.ts'

/**
 * The line between head and body: what must be known at once, the filter with its matches, the number of marks, and the
 * content of the screen in numbers. Where there is little room the filter stays.
 */
export function headRule(scene: Scene): ScreenRow {
  const { columns } = scene.state.size
  const parts = fitting(partsOf(scene), columns - FRAME)
  if (parts.length === 0 || columns < 8) return { spans: [['─'.repeat(Math.max(0, columns)), 'dim']] }
  const rest = '─'.repeat(Math.max(0, columns - 3 - widthOfSpans(parts)))
  return rowOf([['─ ', 'dim'], ...parts, [` ${rest}`, 'dim']], columns)
}

/** `─ ` before the parts and ` ─` after them. */
const FRAME = 4
/** News that are cut still have this width. */
const LEAST_NEWS = 12
/** So has the text of a filter, before the number of its matches. */
const LEAST_FILTER = 6

/** With little room the parts of the highest rank are left out first, the last before the others; those of rank 0 stay. */
interface Part {
  readonly span: StyledText
  readonly rank: number
  /** A shorter form, by this many columns. */
  readonly shorter?: (by: number) => StyledText
}

const NEWS_RANK = 1

function fitting(parts: readonly Part[], room: number): StyledText[] {
  const lineOf = (some: readonly Part[]) =>
    joined(
      some.map(({ span }) => [span]),
      ' · ',
    )
  let shown = parts.filter(({ span: [text] }) => text !== '')
  for (;;) {
    const line = lineOf(shown)
    if (widthOfSpans(line) <= room) return line
    const most = Math.max(...shown.map(({ rank }) => rank))
    if (most <= NEWS_RANK) break
    const last = shown.findLastIndex(({ rank }) => rank === most)
    shown = shown.filter((_, at) => at !== last)
  }
  const others = widthOfSpans(lineOf(shown.filter(({ rank }) => rank < NEWS_RANK)))
  const left = Math.max(LEAST_NEWS, room - others - ' · '.length)
  const short = shown.map(part => (part.rank === NEWS_RANK ? { ...part, span: cutSpan(part.span, left) } : part))
  const over = widthOfSpans(lineOf(short)) - room
  return lineOf(over <= 0 ? short : short.map(part => ({ ...part, span: part.shorter?.(over) ?? part.span })))
}

function cutSpan([text, style]: StyledText, width: number): StyledText {
  return [widthOf(text) <= width ? text : cut(text, width), style]
}

function partsOf(scene: Scene): readonly Part[] {
  const { state, listing, facts } = scene
  const { filter, onlyBroken, marks, sort } = state.lists[state.screen]
  const only = state.screen === 'streams' && facts.selection !== '' ? `only ${safeText(facts.selection)}` : ''
  const { fault } = filterOf(state)
  const matches = fault ?? matchesOf(listing)
  return [
    { rank: NEWS_RANK, span: newsOf(scene) },
    { rank: 2, span: [only, 'active'] },
    { rank: 0, span: [onlyBroken ? `only broken${filter === '' ? `: ${matchesOf(listing)}` : ''}` : '', 'active'] },
    ...(filter === '' ? [] : [filterPart(safeText(filter), matches, fault === undefined ? 'active' : 'bad')]),
    { rank: 0, span: [marks.size === 0 ? '' : `${spacedCount(marks.size)} marked`, 'active'] },
    ...screenSpans(scene).map(span => ({ rank: rankOf(span), span })),
    { rank: 5, span: [sort === undefined ? '' : orderText(sort), 'dim'] },
  ]
}

/** Trouble stays longest. */
function rankOf([, style]: StyledText): number {
  if (style === 'bad') return 2
  return style === 'warn' ? 3 : 4
}

function filterPart(filter: string, matches: string, style: StyledText[1]): Part {
  const spanOf = (text: string): StyledText => [`filter ${text}: ${matches}`, style]
  const shorter = (by: number) => spanOf(cut(filter, Math.max(LEAST_FILTER, widthOf(filter) - by)))
  return { rank: 0, span: spanOf(filter), shorter }
}

function matchesOf({ matching, total }: Listing): string {
  return `${spacedCount(matching)} of ${spacedCount(total)}`
}

/** Words instead of an arrow: the column of failures falls where others rise. */
function orderText({ by, isDescending }: Sort): string {
  return `sorted by ${by}${isDescending ? ', reversed' : ''}`
}

/** The content of a screen in numbers. */
function screenSpans(scene: Scene): readonly StyledText[] {
  switch (scene.state.screen) {
    case 'streams':
    case 'stream':
      return []
    case 'leases':
      return [[spacedCounted(scene.listing.total, 'held lease'), 'plain']]
    case 'watchdog':
      return watchdogSpans(scene)
    case 'activity':
      return activitySpans(scene)
    case 'workers':
      return workerSpans(scene)
    case 'subscriptions':
      return subscriptionSpans(scene)
    case 'inboxes':
      return inboxSpans(scene)
    default:
      return scene.state.screen satisfies never
  }
}

function watchdogSpans({ data, nowMs, state }: Scene): StyledText[] {
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
      ? ['', 'bad']
      : [`${spacedCounted(watchdogs.length, 'watchdog')}, ${spacedCount(live)} live`, live === 0 ? 'bad' : 'plain'],
    [overdue === 0 ? '' : `! ${spacedCount(overdue)} overdue`, 'warn'],
    [dueText === '' ? '' : `next limit ${dueText}`, 'plain'],
  ]
}

function workerSpans({ data: { workers, streams } }: Scene): StyledText[] {
  if (!streams.isComplete) return [['workers: not known yet', 'warn']]
  const { steps } = workers
  const sum = (of: (step: StepLoad) => number) => steps.reduce((total, step) => total + of(step), 0)
  const abandoned = sum(step => step.abandoned)
  return [
    [spacedCounted(workers.workers, 'worker'), 'strong'],
    [`▶ ${spacedCount(sum(step => step.running))} running`, 'plain'],
    [abandoned === 0 ? '' : `† ${spacedCount(abandoned)} abandoned`, 'warn'],
    [`${spacedCount(sum(step => step.ready))} ready`, 'plain'],
  ]
}

function subscriptionSpans({ data: { subscriptions } }: Scene): StyledText[] {
  const { rows } = subscriptions
  if (rows === undefined) return [['subscriptions: not known yet', 'warn']]
  const halted = rows.flatMap(row => row.halted)
  const parked = halted.filter(({ state }) => state === 'parked').length
  const idle = rows.filter(({ view }) => view.kind === 'readable' && view.held === 0).length
  return [
    [spacedCounted(rows.length, 'subscription'), 'strong'],
    [idle === 0 ? '' : `${spacedCount(idle)} run by nobody`, 'warn'],
    [parked === 0 ? '' : `✗ ${spacedCount(parked)} parked`, 'bad'],
    [parked === halted.length ? '' : `${spacedCount(halted.length - parked)} waiting`, 'warn'],
  ]
}

function inboxSpans({ data: { inboxes } }: Scene): StyledText[] {
  const { rows } = inboxes
  if (rows === undefined) return [['inboxes: not known yet', 'warn']]
  const views = rows.flatMap(({ view }) => (view.kind === 'readable' ? [view] : []))
  const sum = (value: (view: InboxView) => number) => views.reduce((total, view) => total + value(view), 0)
  const about = views.some(({ lag }) => lag.isEstimate) ? '~' : ''
  const [waiting, dead] = [sum(({ lag }) => lag.records), sum(({ deadLetters }) => deadLetters.open)]
  const idle = views.filter(({ owned, lag }) => owned === 0 && lag.records > 0).length
  return [
    [spacedCounted(rows.length, 'inbox', 'inboxes'), 'strong'],
    [idle === 0 ? '' : `${spacedCount(idle)} drained by nobody`, 'warn'],
    [dead === 0 ? '' : `✗ ${spacedCounted(dead, 'dead letter')}`, 'bad'],
    [waiting === 0 ? '' : `${about}${spacedCounted(waiting, 'record')} waiting`, 'plain'],
  ]
}

function activitySpans({ data }: Scene): StyledText[] {
  const { items, behind } = data.activity
  return [
    [spacedCounted(items.length, 'change'), 'plain'],
    [behind === 0 ? '' : `${spacedCounted(behind, 'stream')} still to read`, 'dim'],
  ]
}
