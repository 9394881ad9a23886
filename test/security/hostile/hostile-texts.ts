import type { WatchdogEntry } from '../../../src/ops/watchdog-state/state.ts'
import type { LeaseView } from '../../../src/store/store.ts'
import { dataOf } from '../../../src/stream/data.ts'
import { newEvent } from '../../../src/stream/event.ts'
import type { Summary } from '../../../src/stream/summary.ts'
import { dataElements } from '../../../src/stream/xml/data.ts'
import { NOON } from '../../unit/commands/support.ts'
import { failingWatchdog } from '../../unit/watchdog/state/world.ts'

/** Sets the clipboard, clears the screen, moves the cursor, hides and reverses text: allowed in XML, and the rest. */
export const XML_HOSTILE = '\u009d52;c;cm0gLXJm\u009c\u009b2J\u0085\u202edesrever\u2066\u200f\u2028x\u007f'
export const HOSTILE = `${XML_HOSTILE}\u001b]52;c;cm0gLXJm\u0007\u001b[2J\u001b[31m\r\b\u0000\t`

/** Characters that must not reach a terminal; line feeds end lines. */
export const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

/** A lease whose holder is hostile. */
export const LEASE: LeaseView = {
  state: 'leased',
  duration: 'fixed',
  holder: { by: HOSTILE, host: HOSTILE, pid: 1, purpose: HOSTILE, sinceMs: NOON },
}

/** A possible document of any writer: every attribute hostile, some events open, some failed. */
export function hostileDocument(): string {
  const text = `${XML_HOSTILE}&#13;&#10;&#9;`
  const attributes = ['topic', 'key', 'msg', 'trackingId', 'ref', 'tag', 'created', 'timestamp', 'timeout']
    .map(name => `${name}="${text}"`)
    .join(' ')
  const lc = ['owner', 'until', 'outcome', 'failed', 'onDue'].map(name => `lc:${name}="${text}"`).join(' ')
  const event = (id: string, status: string, more: string) =>
    `<Event name="n${text}" status="${status}" id="${id}" ${attributes} ${more} ${lc}/>`
  const journal = `<lc:journal><lc:tx v="1" at="${text}" by="${text}" op="${text}" on="01${XML_HOSTILE}" cmd="${text}" h="0" why="${text}"><lc:change event="01${XML_HOSTILE}" from="${text}" to="${text}" how="target" owner="${text}" attr="${text}"/></lc:tx></lc:journal>`
  const type = `text/x${XML_HOSTILE}`
  const dataWith = (content: string) => ({ ...dataOf(Buffer.from(content)), type })
  const data = dataElements(newEvent({}, {}, { input: dataWith(XML_HOSTILE), result: dataWith(HOSTILE) }), 'lc')
  const events = [
    event('00', 'inprocess', `next="01${XML_HOSTILE}|02.00|missing${XML_HOSTILE}"`).replace('/>', `>${data}</Event>`),
    event(`01${XML_HOSTILE}`, 'aborted', 'prev="00"'),
    event('02.00', text, 'prev="00"'),
    event('03.00', 'init', 'prev="00"'),
    // without a line break at its end, so that it can be used as a name
    event('04.00', 'init', 'prev="00"').replace(/name="[^"]*"/, `name="w${XML_HOSTILE}"`),
  ]
  return `<EventStream xmlns:lc="urn:leasectl:v1" lc:v="1">${events.join('\n')}${journal}</EventStream>`
}

/** The part that shows that a text was printed at all. */
export const MARK = 'cm0gLXJm'

/** A possible summary of a stream by any writer of its metadata. */
export function hostileSummary(summary: Summary): Summary {
  return {
    ...summary,
    status: HOSTILE,
    lastBy: HOSTILE,
    root: HOSTILE,
    key: HOSTILE,
    topic: HOSTILE,
    tag: HOSTILE,
    trackingId: HOSTILE,
    failure: HOSTILE,
    waitingOn: [HOSTILE],
    // more than it lists: workers have to read the document
    ready: ['+1'],
  }
}

/** A watchdog on an untrusted machine; its circuit breaker is open and its passes fail. */
export function hostileWatchdog(): WatchdogEntry {
  const failing = failingWatchdog(NOON, { id: HOSTILE, host: HOSTILE, by: HOSTILE, version: HOSTILE })
  const failure = { startedMs: NOON, sinceMs: NOON, code: HOSTILE, message: HOSTILE }
  const texts = { stream: HOSTILE, kind: HOSTILE, event: HOSTILE, limit: HOSTILE, outcome: HOSTILE }
  return {
    ...failing,
    settings: { ...failing.settings, match: HOSTILE, onDue: HOSTILE },
    decisions: [{ ...texts, dueMs: NOON, atMs: NOON }],
    breaker: { isOpen: true, wouldEnd: 1, openEvents: 1, maxShare: 0 },
    next: [{ stream: HOSTILE, dueMs: NOON }],
    failure,
    lastFailure: failure,
  }
}
