import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import { atMs, type PointInTime, pointInTime } from '../../cli/values.ts'
import type { VersionPoint } from '../../ops/read-stream.ts'

export interface ShowCommandOptions extends GlobalOptions {
  readonly streams: readonly string[]
  readonly at?: VersionOrTime
  readonly diff?: VersionOrTime
  /** An XPath expression. */
  readonly select?: string
  readonly must?: boolean
  /** Levels of the tree below its root. */
  readonly depth?: number
  /** Print the data of this event. */
  readonly data?: string
  /** Read under this lease, which the caller holds. */
  readonly leaseId?: string
  readonly watch?: boolean
  /** Pause between two reads, ms. */
  readonly interval?: number
}

/** How much of the tree is shown. */
export function levelsOf({ depth }: ShowCommandOptions): { readonly depth?: number } {
  return depth === undefined ? {} : { depth }
}

/** A version by number, or the version that was current at a time. */
export type VersionOrTime = { readonly kind: 'version'; readonly version: number } | PointInTime

/** Parses `12`, `v12`, and everything that `pointInTime` parses. */
export function versionOrTime(flag: string): (text: string) => VersionOrTime {
  const time = pointInTime(flag)
  return text => {
    const version = /^v?(\d{1,15})$/i.exec(text)?.[1]
    if (version !== undefined) return { kind: 'version', version: Number(version) }
    try {
      return time(text)
    } catch (cause) {
      throw new UsageError(`${flag}: ${JSON.stringify(text)} is neither a version nor a time`, {
        cause,
        hint: 'Write a version (12), an age (30m, 2h), a time (14:00), a local date and time (2026-11-20 14:00) or RFC 3339.',
      })
    }
  }
}

/** @throws UsageError if the time is in the future */
export function versionPoint(point: VersionOrTime, flag: string, nowMs: number): VersionPoint {
  if (point.kind === 'version') return { version: point.version }
  const ms = atMs(point, nowMs)
  if (ms <= nowMs) return { atMs: ms }
  throw new UsageError(`${flag}: ${new Date(ms).toISOString()} is in the future`, {
    hint: 'Omit the flag to see the current state.',
  })
}
