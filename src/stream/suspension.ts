import type { EventStream } from './event-stream.ts'

/** Why a stream begins nothing for now. */
export interface Suspension {
  /** Time as written. */
  readonly at: string
  /** `''` where another writer dropped it. */
  readonly by: string
  /** The reason, `''` for none. */
  readonly why: string
}

/** The suspension of an open stream; `undefined` if it is not suspended. */
export function suspensionOf(stream: EventStream): Suspension | undefined {
  const { root } = stream
  if (root === undefined || !stream.suspended) return undefined
  const { suspended: at = '', suspendedBy: by = '', info: why = '' } = root.lc
  return { at, by, why }
}

/** `suspended by ana since 2026-11-23T16:00:00.000Z: gateway is down` */
export function suspensionText({ at, by, why }: Suspension): string {
  return `suspended${by === '' ? '' : ` by ${by}`} since ${at}${why === '' ? '' : `: ${why}`}`
}
