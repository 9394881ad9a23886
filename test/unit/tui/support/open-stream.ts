import { type StreamView, viewOf } from '../../../../src/ops/read-stream.ts'
import { formOf } from '../../../../src/tui/data/stream-tree.ts'
import type { OpenStream, TreeNode } from '../../../../src/tui/data/types.ts'
import { documentText, type EventText, Play } from '../../../support/stream-builder.ts'
import { NOW_MS, streamEntry } from './world.ts'

/** A stream in the form of its screen, of a play, a text or events. */
export function openStream(
  name: string,
  given: Play | string | readonly EventText[],
  more: Partial<OpenStream> = {},
): OpenStream {
  const text = typeof given === 'string' ? given : given instanceof Play ? given.text : documentText(...given)
  const { listed, summary } = streamEntry(name).item
  const view = viewOf({ ...listed, body: Buffer.from(text), versionFloor: 0 }, NOW_MS)
  const { nodes } = formOf(view.stream, undefined)
  const tail = view.transactions()
  return {
    name,
    revision: 1,
    presence: 'there',
    view,
    fault: undefined,
    listed,
    summary,
    nodes,
    below: at => below(nodes, at, view),
    event: id => view.stream.find(id),
    tail,
    transactionsOf: id => tail.filter(tx => tx.on === id || tx.changes.some(change => change.event === id)),
    text: text.split('\n'),
    ...more,
  }
}

/** A stream without any data. */
export function openNothing(name: string, presence: OpenStream['presence'] = 'waiting'): OpenStream {
  return {
    name,
    revision: 0,
    presence,
    view: undefined,
    fault: undefined,
    listed: undefined,
    summary: undefined,
    nodes: [],
    below: () => ({ done: 0, failed: 0, canceled: 0, total: 0 }),
    event: () => undefined,
    tail: [],
    transactionsOf: () => [],
    text: [],
  }
}

function below(nodes: readonly TreeNode[], at: number, view: StreamView) {
  const events = nodes.slice(at + 1, nodes[at]?.end).map(({ id }) => view.stream.find(id))
  return {
    done: events.filter(event => event?.status === 'completed').length,
    failed: events.filter(event => event?.status === 'aborted').length,
    canceled: events.filter(event => event?.status === 'canceled').length,
    total: events.length,
  }
}
