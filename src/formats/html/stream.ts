import type { JournalEntry } from '../../ops/read-stream.ts'
import { isSuperseded } from '../../stream/event.ts'
import { openEvents } from '../../stream/event-stream.ts'
import { isHeld } from '../../stream/lease.ts'
import { outcomeOf } from '../../stream/summarize.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { textFormat } from '../field.ts'
import { leaseText } from '../lease.ts'
import { HELD, type HeaderOptions, pastText, suspendedText } from '../stream/header.ts'
import { mostInteresting } from '../stream/layout.ts'
import { eventCells, eventColumns, type TreeRow, threadTree } from '../stream/tree.ts'
import { failures, type ShownStream, soonestDueMs, statusLook, timeOf, waitingOn } from '../stream/view.ts'
import { counted, span, timeText } from '../terminal/numbers.ts'
import { styleOf } from '../terminal/style.ts'
import { cellMarkup, isBlank, styled } from './cell.ts'
import { dataMarkup } from './data.ts'
import { attemptsMarkup, failuresMarkup } from './failures.ts'
import { journalMarkup } from './journal.ts'
import { html, type Markup } from './markup.ts'
import { facts, note, section } from './page.ts'
import { type PageCell, pageTable } from './table.ts'
import { timelineMarkup } from './timeline.ts'

/** A stream of a page with its history, oldest first. */
export interface PageStream {
  readonly shown: ShownStream
  readonly transactions: () => readonly JournalEntry[]
}

/** Events shown at most in the tree, and in the timeline. */
const MAX_EVENTS = 400
/** Events that a stream waits on, named at most. */
const MAX_NAMED = 12

/** A stream: its state, failures, events, time, data and journal. @param level of its heading; `key` makes ids unique */
export function streamMarkup(
  { shown, transactions }: PageStream,
  options: HeaderOptions,
  { level, key }: { readonly level: number; readonly key: string },
): Markup {
  const all = threadTree(shown.stream)
  const rows = all.length <= MAX_EVENTS ? all : mostInteresting(shown, all, MAX_EVENTS)
  const cut =
    rows.length === all.length
      ? undefined
      : note(`${rows.length} of ${counted(all.length, 'event')} are shown, failed and open ones first.`)
  const history = transactions()
  const part = (id: string, title: string, content: Markup | undefined) =>
    content && section(`${key}-${id}`, level + 1, title, content)
  const failed = failuresMarkup(shown, options)
  return html`<article aria-labelledby="${key}">
<header>
<h${level} id="${key}">${visibleName(shown.name)}</h${level}>
${badges(shown, options)}
</header>
${part('state', 'State', factsMarkup(shown, history, options))}${
  failed === undefined
    ? undefined
    : html`<section class="failed" aria-labelledby="${key}-failures">
<h${level + 1} id="${key}-failures">${counted(failures(shown).length, 'failure')}</h${level + 1}>
${failed}</section>
`
}${part('events', 'Events', html`${treeMarkup(shown, rows, options)}${cut}`)}${part(
  'timeline',
  'Timeline',
  html`${timelineMarkup(shown, rows, history, options)}${cut}`,
)}${part('attempts', 'Attempts', attemptsMarkup(shown, options))}${part(
  'data',
  'Inputs and results',
  dataMarkup(shown),
)}${part('journal', 'Journal', journalMarkup(shown.name, shown.stream, history, shown.nowMs, options.time))}</article>
`
}

/** The status, and what stands out beside it, each as glyph and word. */
function badges(shown: ShownStream, options: HeaderOptions): Markup {
  const { stream } = shown
  const { glyph, style, word } = rootLook(shown)
  const due = soonestDueMs(shown)
  const all = [
    badge(`${glyph} ${word}`, style),
    ...(stream.suspended ? [badge('‖ suspended', 'warn')] : []),
    ...(stream.held ? [badge('◇ held', 'warn')] : []),
    ...(due !== undefined && due <= shown.nowMs ? [badge('! overdue', 'bad')] : []),
  ]
  const past = pastText(shown, options)
  return html`${all}${past === undefined ? undefined : note(past)}`
}

function badge(text: string, style: string): Markup {
  return html`<span class="status ${style}">${text}</span>`
}

/** Glyph, colour and word of the stream as a whole. */
export function rootLook({ stream: { root } }: ShownStream) {
  return statusLook(root?.status ?? 'not started', root?.lc.outcome)
}

function factsMarkup(shown: ShownStream, history: readonly JournalEntry[], options: HeaderOptions): Markup {
  const { stream, nowMs } = shown
  const { root } = stream
  const text = (value: string | undefined) => (value ? html`${value}` : undefined)
  const createdMs = timeOf(shown, root?.created)
  const endedMs = stream.done ? timeOf(shown, root?.timestamp) : undefined
  const due = soonestDueMs(shown)
  const last = history.at(-1)
  const lastMs = last && timeOf(shown, last.at)
  const when = (ms: number | undefined) => (ms === undefined ? undefined : html`${timeText(ms, nowMs, options.time)}`)
  return facts([
    ['As of', html`${new Date(nowMs).toISOString().replace(/\.\d+/, '')}`],
    ['Created', when(createdMs)],
    ['Ended', when(endedMs)],
    [stream.done ? 'Took' : 'Age', createdMs === undefined ? undefined : html`${span((endedMs ?? nowMs) - createdMs)}`],
    [
      'Last change',
      lastMs === undefined
        ? undefined
        : html`${timeText(lastMs, nowMs, options.time)}${last?.by ? ` by ${last.by}` : ''}`,
    ],
    ['Version', html`${shown.version}`],
    ['Events', countsMarkup(shown)],
    ['Waits on', waitsMarkup(shown)],
    ['Due', due === undefined ? undefined : cellMarkup(textFormat(nowMs, options.time).due(due))],
    ['Suspended', text(suspendedText(shown, options))],
    ['Held', stream.held ? html`${HELD}` : undefined],
    ['Outcome', text(outcomeOf(stream, failures(shown).length > 0))],
    [
      'Lease',
      shown.past !== undefined
        ? undefined
        : isHeld(shown.lease)
          ? html`${leaseText(shown.lease, nowMs)}`
          : html`nobody holds it`,
    ],
    ['Key', text(root?.key)],
    ['Topic', text(root?.topic)],
    ['Tag', text(root?.tag)],
    ['Tracking id', text(root?.trackingId)],
  ])
}

/** `✓ 12 completed · ○ 3 open · ✗ 1 aborted`, without replaced events. */
function countsMarkup({ stream }: ShownStream): Markup {
  const counted = stream.events.filter((event, at) => stream.counts(at) && !isSuperseded(event))
  const open = openEvents(stream).length
  const counts = ['completed', 'aborted', 'canceled'].map(
    status => [status, counted.filter(event => event.status === status).length] as const,
  )
  const parts = [['open', open] as const, ...counts].filter(([, count]) => count > 0)
  return parts
    .map(([word, count]) => {
      const { glyph, style } = styleOf(word === 'open' ? 'init' : word)
      return styled(`${glyph} ${count} ${word}`, style)
    })
    .reduce((above, one) => html`${above}${above.text === '' ? '' : ' · '}${one}`, html``)
}

function waitsMarkup(shown: ShownStream): Markup | undefined {
  const events = waitingOn(shown)
  if (events.length === 0) return undefined
  const named = events.slice(0, MAX_NAMED).map(({ id, name }) => `${visibleText(id)} ${visibleText(name)}`.trimEnd())
  return html`${named.join(', ')}${events.length > MAX_NAMED ? ` +${events.length - MAX_NAMED}` : ''}`
}

/** The thread tree as a table. */
function treeMarkup(shown: ShownStream, rows: readonly TreeRow[], options: HeaderOptions): Markup {
  const cells = rows.map(row => eventCells(shown, row, options, Number.MAX_SAFE_INTEGER).slice(1))
  const hasMessages = cells.some(row => row.at(-1) !== '')
  const columns = eventColumns(options.time)
  return pageTable(
    'Events',
    hasMessages ? columns : columns.slice(0, -1),
    rows.map((row, at): PageCell[] => {
      const values = (cells[at] ?? []).map(cell => ({ content: cellMarkup(cell), blank: isBlank(cell) }))
      return [{ content: eventHead(row) }, ...(hasMessages ? values : values.slice(0, -1))]
    }),
    'tree',
  )
}

function eventHead({ lines, depth, id, event }: TreeRow): Markup {
  return html`<span class="lines" aria-hidden="true">${lines}</span><span class="hidden">level ${depth + 1}: </span>${id} ${event?.name}`
}
