import type { SeenTransaction } from '../../ops/read-stream.ts'
import { cutBytes } from '../../stream/text.ts'
import { isoTime } from '../../stream/time/dates.ts'
import type { Happening } from './events.ts'

/** How JSON looks is not for a watchdog to know: handed in by who prints transactions elsewhere too. */
export interface HookFormat {
  /** A transaction as `tail -o ndjson` prints it. */
  transaction(stream: string, transaction: SeenTransaction): object
  /** A document as text, the version of the format in front. */
  document(fields: object): string
}

/** What a hook reads on standard input, or a webhook as its body. */
export function documentOf(happening: Happening, store: string, format: HookFormat): string {
  const { kind, id, stream, status, outcome, what } = happening
  return format.document({
    hook: kind,
    deliveryId: id,
    store,
    stream,
    status: status === '' ? null : status,
    outcome: outcome === '' ? null : outcome,
    ...('transaction' in what
      ? { transaction: format.transaction(stream, what.transaction), due: null }
      : { transaction: null, due: dueOf(what) }),
  })
}

function dueOf({ due }: Extract<Happening['what'], { due: unknown }>): object {
  const { event, name, limit, dueMs, message, commandId } = due
  return { event, name: name === '' ? null : name, limit, due: isoTime(dueMs), message, commandId }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Of the daemon's own environment a program gets no more: what else is in it is often secret. */
const HANDED_ON = ['PATH', 'HOME', 'LANG', 'TZ'] as const

/** A longer text would keep the program from being started: it stands whole in the document. */
const MAX_VALUE_BYTES = 8 * 1_024

/** The environment of a program: where it is told what, for scripts that read no JSON. */
export function environmentOf(happening: Happening, store: string, own: Environment): Record<string, string> {
  const { kind, stream, event, commandId, version } = happening
  const handedOn = HANDED_ON.flatMap(name => (own[name] === undefined ? [] : [[name, own[name]] as const]))
  const told = {
    LEASECTL_STORE: store,
    LEASECTL_STREAM: stream,
    LEASECTL_EVENT: event,
    LEASECTL_HOOK: kind,
    LEASECTL_COMMAND_ID: commandId,
    LEASECTL_VERSION: version === undefined ? '' : String(version),
    LEASECTL_DELIVERY_ID: happening.id,
  }
  const cut = Object.entries(told).map(([name, value]) => [name, cutBytes(value, MAX_VALUE_BYTES)] as const)
  return Object.fromEntries([...handedOn, ...cut])
}
