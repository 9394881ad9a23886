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
import { runningEvent, type Summary } from '../../stream/summary.ts'
import type { Activity, StreamEntry } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { cursorKey, targetUnderCursor } from '../state/cursor.ts'
import { activityRow } from '../state/lists/row-target.ts'
import { changeSpans } from './activity.ts'
import { leaseEndText, processText } from './leases.ts'
import { type Area, BLANK, filled, rowOf, ruleRow, type ScreenRow, type StyledText, widthOfSpans } from './row.ts'
import { safeText } from './safe-text.ts'
import { stateCell } from './stream-cells.ts'
import { dueCell, type RowTime, screenFormat, wholeTimeText } from './times.ts'

/** The pane below a list: details of the row under the cursor. Its first row is a rule. */
export function listDetailRows(scene: Scene, area: Area): ScreenRow[] {
  const cursor = cursorKey(scene.state, scene)
  if (cursor === undefined) return filled(scene.state.isDetailOpen ? [ruleRow('', area.columns)] : [], area)
  const moment = screenFormat(scene.nowMs, scene.state.time)
  const item = scene.state.screen === 'activity' ? activityRow(scene.data, cursor) : undefined
  if (item !== undefined) return filled(transactionRows(item, moment, area), area)
  const { stream = cursor } = targetUnderCursor(scene.state, scene) ?? {}
  const entry = scene.data.streams.get(stream)
  const title = ruleRow(safeText(stream), area.columns)
  if (entry === undefined) return filled([title], area)
  const rows = scene.state.isDetailOpen ? streamRows(entry, moment, area) : standingRows(entry, moment, area.columns)
  return filled([title, ...rows], area)
}

type Fact = readonly [label: string, value: Cell]

/** The pane while no details are open: how the stream is, and its first failure. */
function standingRows(entry: StreamEntry, moment: CellFormat, columns: number): ScreenRow[] {
  const [facts = BLANK] = flowed(standingFacts(entry, moment), columns)
  return [facts, ...failureRows(entry, columns, 1)]
}

function standingFacts(entry: StreamEntry, moment: CellFormat): Fact[] {
  const { summary } = entry.item
  if (summary === undefined) return [['', stateCell(entry, moment)]]
  return [
    ['', stateCell(entry, moment)],
    ...failureFacts(summary, moment),
    ...silentFacts(summary, moment),
    ['due', summary.dueMs === undefined ? '' : dueCell(summary.dueMs, moment)],
    ['waiting on', idsText(summary.waitingOn, 3)],
    ['last by', summary.lastBy],
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
function silentFacts({ running }: Summary, { nowMs }: CellFormat): Fact[] {
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
function failureRows(entry: StreamEntry, columns: number, most: number): ScreenRow[] {
  const { fault, summary } = entry.item
  const text = (faultText(entry.item) ?? summary?.failure ?? '').replace(/\s+/g, ' ')
  const isNew = summary !== undefined && hasUnacknowledgedFailure(summary)
  const sign = summary !== undefined && summary.failed === 0 ? '⊘' : '✗'
  const label =
    fault === undefined
      ? `${sign} ${summary?.failedId ?? ''} ${summary?.failedName ?? ''}`.trimEnd()
      : `? ${fault.code}`
  if (text === '' && (summary?.failedId ?? '') === '') return []
  const style = fault !== undefined ? 'warn' : isNew ? 'bad' : 'plain'
  return wrapped(safeText(text === '' ? label : `${label}: ${text}`), columns - 2, most).map(line =>
    rowOf([[` ${line}`, style]], columns),
  )
}

function streamRows(entry: StreamEntry, moment: CellFormat, { columns, rows }: Area): ScreenRow[] {
  const failure = failureRows(entry, columns, 4)
  const facts = flowed([...summaryFacts(entry, moment), ...blobFacts(entry, moment)], columns)
  return [...facts.slice(0, Math.max(1, rows - 1 - failure.length)), ...failure]
}

function summaryFacts(entry: StreamEntry, moment: CellFormat): Fact[] {
  const { summary } = entry.item
  if (summary === undefined) return [['', stateCell(entry, moment)]]
  const { total, open } = summary
  return [
    ['', stateCell(entry, moment)],
    ...failureFacts(summary, moment),
    ...silentFacts(summary, moment),
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
function transactionRows({ stream, atMs, tx }: Activity, moment: RowTime, { columns, rows }: Area): ScreenRow[] {
  const facts: Fact[] = [
    ['at', wholeTimeText(atMs, moment)],
    ['by', tx.by],
    ['op', tx.op],
    ['on', tx.on],
    ['why', tx.why],
    ['command id', tx.commandId],
    ['hash', tx.hash],
    ['', tx.other ? { text: 'other attributes changed too', style: 'warn' } : ''],
    ['', tx.provisional ? { text: 'foreign write, not recorded yet', style: 'warn' } : ''],
  ]
  const head = [
    ruleRow(safeText(`${stream} v${tx.provisional ? '?' : tx.version}`), columns),
    ...flowed(facts, columns),
  ]
  const room = Math.max(0, rows - head.length)
  const changes = orderedChanges(tx)
    .slice(0, room)
    .map(change => rowOf([[' ', 'plain'], ...changeSpans(change, tx)], columns))
  if (tx.changes.length <= room || room === 0) return [...head, ...changes]
  const more = rowOf([[` and ${spacedCount(tx.changes.length - room + 1)} more`, 'dim']], columns)
  return [...head, ...changes.slice(0, -1), more]
}

/** Facts side by side, wrapped into lines; those without a value are left out. */
function flowed(facts: readonly Fact[], columns: number): ScreenRow[] {
  const lines: StyledText[][] = []
  for (const fact of facts) {
    const spans = factSpans(fact)
    if (spans === undefined) continue
    const line = lines.at(-1)
    const gap: StyledText = ['   ', 'plain']
    if (line !== undefined && widthOfSpans([...line, gap, ...spans]) <= columns) line.push(gap, ...spans)
    else lines.push([[' ', 'plain'], ...spans])
  }
  return lines.map(line => rowOf(line, columns))
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
