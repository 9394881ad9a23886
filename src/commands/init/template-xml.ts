import { UsageError } from '../../cli/problem.ts'
import { choice, timeout } from '../../cli/values.ts'
import { type EventData, isBeside } from '../../stream/data.ts'
import { isFinal, type StreamEvent } from '../../stream/event.ts'
import { EventStream } from '../../stream/event-stream.ts'
import { type EventSpec, ON_DUE } from '../../stream/operations/operation.ts'
import { parseTimeout } from '../../stream/time/durations.ts'
import { readDocument } from '../../stream/xml/read.ts'
import { nearest } from '../../util/strings.ts'
import type { Template } from './template.ts'

/** Reads a stream document as a template: a root with direct forks, none of which has run. */
export function xmlTemplate(text: string): Template {
  const stream = new EventStream(readDocument(text).events)
  const { root } = stream
  if (root === undefined) throw new UsageError('it contains no event')
  const below = stream.successors(root)
  if (below.missing.length > 0 || below.events.length !== stream.events.length - 1) {
    throw new UsageError('only a root and its direct successors are allowed', {
      hint: 'Remove the later events.',
    })
  }
  const joins = below.events.filter(event => event.lc.join !== undefined)
  const forks = below.events.filter(event => event.lc.join === undefined)
  if (isFinal(root)) throw new UsageError(`its root is ${root.status}`, { hint: 'The root must be open.' })
  const started = forks.find(event => event.status !== 'init' && event.status !== '')
  if (started !== undefined)
    throw new UsageError(`event ${started.id} is ${started.status}: only events in status init are allowed`)
  const [join] = joins
  return {
    ...specAttributes(root),
    root: root.name,
    fork: forks.map(eventSpec),
    ...(join === undefined ? {} : { join: eventSpec(join) }),
    hold: root.status === 'init',
  }
}

function eventSpec(event: StreamEvent): EventSpec {
  return { ...specAttributes(event), name: event.name, ...(event.msg === '' ? {} : { msg: event.msg }) }
}

function specAttributes(event: StreamEvent): Omit<EventSpec, 'name'> {
  refuseUnknown(event)
  const { topic, key, tag, ref, trackingId } = event
  const texts = Object.entries({ topic, key, tag, ref, trackingId, timeout: limitOf(event) })
  const onDue = event.lc.onDue ?? ''
  return {
    ...Object.fromEntries(texts.filter(([, value]) => value !== '')),
    ...(onDue === '' ? {} : { onDue: choice('lc:onDue', ON_DUE)(onDue) }),
    ...(event.input === undefined ? {} : { data: inlineData(event) }),
  }
}

function inlineData({ id, input }: StreamEvent): EventData {
  if (input !== undefined && !isBeside(input)) return input
  throw new UsageError(`event ${id}: its input is kept beside the document, not in it`, {
    hint: 'Remove the lc:input element; --data @FILE gives the root its input.',
  })
}

/** Rejects unknown attributes: a misspelt one would be lost silently. */
function refuseUnknown({ id, foreign }: StreamEvent): void {
  const unknown = foreign.find(({ name }) => name !== 'xmlns' && !name.startsWith('xmlns:'))
  if (unknown === undefined) return
  const near = nearest(unknown.name, KNOWN)
  throw new UsageError(`event ${id}: ${unknown.name} is not an attribute of a new event`, {
    hint: `${near === undefined ? 'Remove it.' : `did you mean ${near}?`} Allowed are ${KNOWN.join(', ')}.`,
  })
}

const KNOWN = ['name', 'topic', 'key', 'msg', 'ref', 'tag', 'trackingId', 'timeout', 'lc:onDue']

/** A timeout in wire format stays unchanged; any other text is parsed as the `--timeout` flag is. */
function limitOf({ timeout: limit }: StreamEvent): string {
  return parseTimeout(limit).kind === 'unreadable' ? timeout(limit) : limit
}
