import { type DataContent, readContent } from '../ops/event-data.ts'
import type { StreamStore } from '../store/store.ts'
import { dataOf, type EventData } from '../stream/data.ts'
import { type DataInput, readDataInput } from '../stream/data-input.ts'
import { text, wrong } from '../stream/values.ts'
import { checkStore } from './checks.ts'
import type { EventReader, StreamReader } from './reader.ts'
import { readSignal, type SignalOption } from './signal.ts'

/** The result of an event, for later events and other programs. */
export interface ResultOption {
  /** What the event produced, up to 16 MiB. */
  readonly result?: DataInput
}

/** Options of `newData`. */
export interface NewDataOptions {
  /**
   * Media type. Default: `application/json` for a JSON object or list, `text/plain` for other text, otherwise
   * `application/octet-stream`.
   */
  readonly type?: string
}

/**
 * Makes data for an event: the input of a new one, or the result of one that ends.
 *
 * ```ts
 * await createStream(store, 'orders/4711', { by: 'shop' }, { root: { name: 'Start', data: newData(csv, { type: 'text/csv' }) } })
 * ```
 *
 * @throws InvalidValue for more than 16 MiB, and for an invalid media type
 */
export function newData(content: string | Uint8Array, options: NewDataOptions = {}): EventData {
  if (typeof content !== 'string' && !(content instanceof Uint8Array)) {
    throw wrong('content', content, 'a text or a Uint8Array', 'JSON.stringify(value) makes a text of any value.')
  }
  const { type } = options
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return dataOf(bytes, type === undefined ? undefined : text(type, 'type'))
}

/**
 * Reads data of an event of a stream: its `input`, its `result`, or one of its `inputs`.
 *
 * @throws DataFault if it is missing in the store or damaged; the store's faults
 */
export async function readData(
  store: StreamStore,
  stream: StreamReader<EventReader>,
  data: EventData,
  options: SignalOption = {},
): Promise<DataContent> {
  checkStore(store)
  const life = { stream: stream.name, born: stream.born }
  return readContent(store, life, readDataInput(data, 'data'), readSignal(options, 'options').signal)
}
