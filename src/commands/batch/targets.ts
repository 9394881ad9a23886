import { createHash } from 'node:crypto'
import { encodeCommandId } from '../../stream/text.ts'

/** One change of a batch: a stream, or one event of it. */
export interface Target {
  readonly stream: string
  readonly event: string | undefined
}

/** A stream as a whole, or these events of it. */
export function targetsOf(stream: string, events: readonly string[]): Target[] {
  return events.length === 0 ? [{ stream, event: undefined }] : events.map(event => ({ stream, event }))
}

/** Each change of a batch has an id of its own, made from the command's: so repeating the batch is safe too. */
export function targetCommandId(commandId: string, { stream, event }: Target, batch: boolean): string {
  if (!batch) return commandId
  const id = `${commandId}/${event === undefined ? stream : `${stream}:${event}`}`
  try {
    return encodeCommandId(id)
  } catch {
    return `${commandId.slice(0, 160)}/${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
  }
}
