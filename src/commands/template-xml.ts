import { isFinal, type StreamEvent } from '../stream/event.ts'
import { EventStream } from '../stream/event-stream.ts'
import { type EventSpec, isOnDue } from '../stream/operation.ts'
import { readDocument } from '../stream/xml-read.ts'
import { UsageError } from './problem.ts'
import type { Template } from './template.ts'

/** A stream document as its own beginning: a root with direct forks, nothing that has run. */
export function xmlTemplate(text: string): Template {
  const stream = new EventStream(readDocument(text).events)
  const { root } = stream
  if (root === undefined) throw new UsageError('it holds no event')
  const below = stream.successors(root)
  if (below.missing.length > 0 || below.events.length !== stream.events.length - 1) {
    throw new UsageError('only a root and its direct successors can be taken over', {
      hint: 'Leave out what comes later.',
    })
  }
  const joins = below.events.filter(event => event.lc.join === 'wait')
  const forks = below.events.filter(event => event.lc.join !== 'wait')
  if (isFinal(root)) throw new UsageError(`its root is ${root.status}`, { hint: 'Only what is open can begin.' })
  const started = forks.find(event => event.status !== 'init' && event.status !== '')
  if (started !== undefined)
    throw new UsageError(`event ${started.id} is ${started.status}: only events that are init can be taken over`)
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
  const { topic, key, tag, ref, trackingId, timeout: limit } = event
  const texts = Object.entries({ topic, key, tag, ref, trackingId, timeout: limit }).filter(([, value]) => value !== '')
  const onDue = event.lc.onDue
  return {
    ...Object.fromEntries(texts),
    ...(isOnDue(onDue) ? { onDue } : {}),
  }
}
