import type { CellFormat } from '../../formats/field.ts'
import { orderedChanges } from '../../formats/journal.ts'
import { holderCell } from '../../formats/lease.ts'
import { faultText, idsText } from '../../formats/stream/view.ts'
import { calmSpan, spacedCount } from '../../formats/terminal/numbers.ts'
import type { Style } from '../../formats/terminal/style.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import { wrapped } from '../../formats/terminal/width.ts'
import { hasUnacknowledgedFailure } from '../../ops/filter.ts'
import { isAbandoned } from '../../ops/open-events.ts'
import { isHeld } from '../../stream/lease.ts'
import { isSuspended } from '../../stream/state.ts'
import type { Summary } from '../../stream/summary.ts'
import { runningEvent } from '../../stream/summary-items.ts'
import type { Activity, StreamEntry } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { cursorKey } from '../state/cursor.ts'
import { activityRow, eventOfRow, targetOfRow } from '../state/lists/row-target.ts'
import type { Screen, TextPage } from '../state/state.ts'
import { linesOfText, type ReadableText, textOfLines } from '../state/text/text.ts'
import { changeSpans } from './activity.ts'
import { leaseEndText, processText } from './leases.ts'
import { type Area, filled, rowOf, ruleRow, type ScreenRow, type StyledText, widthOfSpans } from './row.ts'
import { safeName, safeText } from './safe-text.ts'
import { eventLines } from './stream/detail.ts'
import { endedMs, stateCell } from './stream-cells.ts'
import { subscriptionLines, subscriptionTitle } from './subscription-detail.ts'
import { readingRows } from './text.ts'
import { dueCell, type RowTime, screenFormat, tookSpan, wholeTimeText } from './times.ts'
import { inboxLines, inboxTitle } from './two-lists/inbox-detail.ts'

/** The pane below a list: details of the row under the cursor. Its first row is a rule. */
export function listDetailRows(scene: Scene, area: Area): ScreenRow[] {
  const { state, nowMs } = scene
  const text = state.isDetailOpen ? rowDetail(scene) : undefined
  const cursor = cursorKey(state, scene)
  if (text !== undefined) return readingRows(scene, rowTitle(scene, state.screen, cursor ?? ''), text, area)
  if (cursor === undefined) return filled(state.isDetailOpen ? [ruleRow('', area.columns)] : [], area)
  const title = ruleRow(rowTitle(scene, state.screen, cursor), area.columns)
  const entry = entryOfRow(scene, state.screen, cursor)
  if (entry === undefined) return filled([title], area)
  return filled([title, ...standingRows(entry, screenFormat(nowMs, state.time), area)], area)
}

/** The details of the row under the cursor, for the pane. */
export function rowDetail(scene: Scene): ReadableText | undefined {
  const { state } = scene
  const cursor = cursorKey(state, scene)
  return cursor === undefined
    ? undefined
    : textOf(rowLines(scene, state.screen, cursor, facts => flowedLines(facts, state.size.columns)))
}

/** All about a row of a list, for the whole screen: each fact has a line of its own. */
export function rowPage(scene: Scene, screen: Screen, key: string): Pick<TextPage, 'title' | 'text'> | undefined {
  const lines = rowLines(scene, screen, key, facts => facts.map(factSpans).filter(spans => spans !== undefined))
  if (lines === undefined) return undefined
  const event = rowEventLines(scene, screen, key)
  const text = textOfLines(event.length === 0 ? lines : [...event, [], ...lines])
  return { title: rowTitle(scene, screen, key), text }
}

/** All about the event that the row is about, once its stream has been read. */
function rowEventLines(scene: Scene, screen: Screen, key: string): readonly (readonly StyledText[])[] {
  const { data } = scene
  const about = screen === 'stream' ? undefined : eventOfRow(screen, key, data)
  const { failure } = data
  if (about === undefined || failure?.stream !== about.stream) return []
  return eventLines(scene, failure.view, about.event)
}

/** The lines of facts. */
type Flow = (facts: readonly Fact[]) => readonly (readonly StyledText[])[]

function textOf(lines: ReturnType<typeof rowLines>): ReadableText | undefined {
  return lines && textOfLines(lines)
}

function rowLines(
  scene: Scene,
  screen: Screen,
  key: string,
  flow: Flow,
): readonly (readonly StyledText[])[] | undefined {
  const moment = screenFormat(scene.nowMs, scene.state.time)
  if (screen === 'subscriptions') return subscriptionLines(scene, key)
  if (screen === 'inboxes') return inboxLines(scene, key)
  const item = screen === 'activity' ? activityRow(scene.data, key) : undefined
  if (item !== undefined) return transactionLines(item, moment, flow)
  const entry = entryOfRow(scene, screen, key)
  return entry && streamLines(withWholeFailure(scene, entry), moment, flow)
}

/** The entry with its failure to the end, once that has been read. */
function withWholeFailure({ data: { failure } }: Scene, entry: StreamEntry): StreamEntry {
  const { summary, listed } = entry.item
  if (summary === undefined || failure?.stream !== entry.name || failure.etag !== listed.etag || failure.text === '')
    return entry
  return { ...entry, item: { ...entry.item, summary: { ...summary, failure: failure.text } } }
}

/** The stream that a row is about. */
function entryOfRow({ data }: Scene, screen: Screen, key: string): StreamEntry | undefined {
  return data.streams.get(streamOfRow(data, screen, key))
}

function streamOfRow(data: Scene['data'], screen: Screen, key: string): string {
  return screen === 'stream' ? key : (targetOfRow(screen, key, data)?.stream ?? key)
}

function rowTitle({ data }: Scene, screen: Screen, key: string): string {
  if (screen === 'subscriptions') return subscriptionTitle(key)
  if (screen === 'inboxes') return inboxTitle(key)
  const item = screen === 'activity' ? activityRow(data, key) : undefined
  if (item === undefined) return safeName(streamOfRow(data, screen, key))
  return safeText(`${item.stream} v${item.tx.provisional ? '?' : item.tx.version}`)
}

type Fact = readonly [label: string, value: Cell]

/** The pane while no details are open: how the stream is, and its first failure. */
function standingRows(entry: StreamEntry, moment: CellFormat, { columns, rows }: Area): ScreenRow[] {
  const [facts = []] = flowedLines(standingFacts(entry, moment), columns)
  const failure = failureLines(entry).flatMap(line => {
    const [text = '', style = 'plain'] = line[0] ?? []
    return wrapped(safeText(text), columns - 2, Math.max(1, rows - 2)).map((part): StyledText[] => [[part, style]])
  })
  return [facts, ...failure].map(spans => rowOf([[' ', 'plain'], ...spans], columns))
}

function standingFacts(entry: StreamEntry, moment: CellFormat): Fact[] {
  const { summary } = entry.item
  if (summary === undefined) return [['', stateCell(entry, moment)]]
  return [
    ['', stateCell(entry, moment)],
    ...suspensionFacts(summary, moment),
    ...endFacts(entry, summary, moment),
    ...failureFacts(summary, moment),
    ...silentFacts(summary, moment),
    ['due', summary.dueMs === undefined ? '' : dueCell(summary.dueMs, moment)],
    ['waiting on', idsText(summary.waitingOn, 3)],
    ['last by', summary.lastBy],
  ]
}

function suspensionFacts(summary: Summary, moment: CellFormat): Fact[] {
  if (!isSuspended(summary)) return []
  return [
    ['since', timeOf(summary.suspendedMs, moment)],
    ['by', summary.suspendedBy],
    ['why', summary.suspendedWhy],
  ]
}

/** How long a stream took that has ended, and when it ended. */
function endFacts({ item }: StreamEntry, summary: Summary, moment: CellFormat): Fact[] {
  const ended = endedMs(summary, item.listed.modifiedMs)
  if (ended === undefined) return []
  const took = summary.createdMs === undefined ? '' : tookSpan(ended - summary.createdMs)
  return [
    ['took', took],
    ['ended', moment.past(ended)],
  ]
}

function failureFacts(summary: Summary, moment: CellFormat): Fact[] {
  const { failed, canceled, ackMs } = summary
  const isNew = hasUnacknowledgedFailure(summary)
  return [
    ['', failed === 0 ? '' : { text: `✗ ${failed} failed`, style: isNew ? 'bad' : 'plain' }],
    ['', canceled === 0 ? '' : { text: `⊘ ${canceled} canceled`, style: 'warn' }],
    ['acknowledged', failed === 0 || isNew ? '' : timeOf(ackMs, moment)],
  ]
}

/** Workers whose claims have ended. */
function silentFacts(summary: Summary, { nowMs }: CellFormat): Fact[] {
  const { running } = summary
  if (isSuspended(summary)) return []
  const silent = running
    .map(item => runningEvent(item))
    .filter(event => event !== undefined)
    .filter(event => isAbandoned(event, nowMs))
  return silent.slice(0, SILENT_SHOWN).map(({ id, name, owner, lastSeenMs, claimEndMs }) => {
    const since = calmSpan(nowMs - (lastSeenMs ?? claimEndMs ?? nowMs))
    return ['silent', { text: `${owner} for ${since} on ${id} ${name}`.trim(), style: 'warn' }]
  })
}

const SILENT_SHOWN = 3

/** Why the stream is unreadable, or its first failure. */
function failureLines(entry: StreamEntry): readonly StyledText[][] {
  const { fault, summary } = entry.item
  const text = faultText(entry.item) ?? summary?.failure ?? ''
  const isNew = summary !== undefined && hasUnacknowledgedFailure(summary)
  const sign = summary !== undefined && summary.failed === 0 ? '⊘' : '✗'
  const label =
    fault === undefined
      ? `${sign} ${summary?.failedId ?? ''} ${summary?.failedName ?? ''}`.trimEnd()
      : `? ${fault.code}`
  if (text === '' && (summary?.failedId ?? '') === '') return []
  const style = fault !== undefined ? 'warn' : isNew ? 'bad' : 'plain'
  return linesOfText(text === '' ? label : `${label}: ${text}`).map(line => [[line, style]])
}

/** The failure stands right below how the stream is: nothing else is wanted as much. */
function streamLines(entry: StreamEntry, moment: CellFormat, flow: Flow) {
  return [...flow(stateFacts(entry, moment)), ...failureLines(entry), ...flow(otherFacts(entry, moment))]
}

function stateFacts(entry: StreamEntry, moment: CellFormat): Fact[] {
  const { summary } = entry.item
  if (summary === undefined) return [['', stateCell(entry, moment)]]
  return [
    ['', stateCell(entry, moment)],
    ...endFacts(entry, summary, moment),
    ...failureFacts(summary, moment),
    ...silentFacts(summary, moment),
  ]
}

function otherFacts(entry: StreamEntry, moment: CellFormat): Fact[] {
  return [...summaryFacts(entry, moment), ...blobFacts(entry, moment)]
}

function summaryFacts(entry: StreamEntry, moment: CellFormat): Fact[] {
  const { summary } = entry.item
  if (summary === undefined) return []
  const { total, open } = summary
  return [
    ['version', spacedCount(summary.version)],
    ['root', summary.root],
    ['key', summary.key],
    ['topic', summary.topic],
    ['tag', summary.tag],
    ['tracking id', summary.trackingId],
    ['events', `${total - open} of ${total} ended`],
    ['waiting on', idsText(summary.waitingOn, 12)],
    ['ready', idsText(summary.ready.map(readyText), 6)],
    ['created', timeOf(summary.createdMs, moment)],
    ['due', summary.dueMs === undefined ? '' : dueCell(summary.dueMs, moment)],
    [
      (summary.claimEndMs ?? 0) > moment.nowMs ? 'first claim ends' : 'first claim ended',
      timeOf(summary.claimEndMs, moment),
    ],
    ['failed', timeOf(summary.failedAtMs, moment)],
    ['last by', summary.lastBy],
  ]
}

function blobFacts(entry: StreamEntry, moment: CellFormat): Fact[] {
  const { listed } = entry.item
  const { state, holder } = listed.lease
  const held = isHeld(listed.lease)
  return [
    ['changed', timeOf(listed.modifiedMs, moment)],
    ['lease', held ? state : ''],
    ['holder', held ? holderCell(listed.lease, entry.item.summary?.lastBy, moment) : ''],
    ['process', held && holder !== undefined ? processText(entry) : ''],
    ['for', held ? (holder?.purpose ?? '') : ''],
    ['since', held ? timeOf(holder?.sinceMs ?? entry.leasedSinceMs, moment) : ''],
    ['ends', held ? leaseEndText(entry, moment) : ''],
    ['size', `${spacedCount(listed.size)} bytes`],
    ['etag', listed.etag],
  ]
}

function timeOf(ms: number | undefined, moment: RowTime): string {
  return ms === undefined ? '' : wholeTimeText(ms, moment)
}

/** Of `name|topic`, percent-encoded: `name`, or `name [topic]`. */
function readyText(ready: string): string {
  const [name = '', topic = ''] = ready.split('|').map(decoded)
  return topic === '' ? name : `${name} [${topic}]`
}

/** A text that is not percent-encoded is returned as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The whole transaction: author, operation, reason, and each changed event. */
function transactionLines({ atMs, tx }: Activity, moment: RowTime, flow: Flow) {
  const facts = flow([
    ['at', wholeTimeText(atMs, moment)],
    ['by', tx.by],
    ['op', tx.op],
    ['on', tx.on],
    ['command id', tx.commandId],
    ['hash', tx.hash],
    ['', tx.other ? { text: 'other attributes changed too', style: 'warn' } : ''],
    ['', tx.provisional ? { text: 'foreign write, not recorded yet', style: 'warn' } : ''],
  ])
  const why =
    tx.why === '' ? [] : linesOfText(tx.why).map((line, at): StyledText[] => [...whyLabel(at), [line, 'plain']])
  return [...facts, ...why, ...orderedChanges(tx).map(change => changeSpans(change, tx))]
}

function whyLabel(at: number): StyledText[] {
  return at === 0 ? [['why ', 'dim']] : []
}

/** Facts side by side, in lines of this width; those without a value are left out. */
function flowedLines(facts: readonly Fact[], columns: number): StyledText[][] {
  const lines: StyledText[][] = []
  for (const fact of facts) {
    const spans = factSpans(fact)
    if (spans === undefined) continue
    const line = lines.at(-1)
    const gap: StyledText = ['   ', 'plain']
    if (line !== undefined && widthOfSpans([...line, gap, ...spans]) < columns) line.push(gap, ...spans)
    else lines.push([...spans])
  }
  return lines
}

function factSpans([label, value]: Fact): StyledText[] | undefined {
  const { text, style } = typeof value === 'string' ? { text: value, style: 'plain' as Style } : value
  const safe = safeText(text)
  if (safe === '') return undefined
  return label === ''
    ? [[safe, style]]
    : [
        [`${label} `, 'dim'],
        [safe, style],
      ]
}
