import type { AwaitedStream } from '../../ops/wait-types.ts'

/** How far waiting has come. */
export interface Tally {
  readonly total: number
  readonly met: number
  /** Those that ended, but not as asked for. */
  readonly otherwise: readonly AwaitedStream[]
  readonly open: ReadonlyMap<string, AwaitedStream>
}
