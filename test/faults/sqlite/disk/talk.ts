import { readlinkSync } from 'node:fs'

/** The side of a child that runs on a recorded disk. */
export const isRecorded = process.env.LEASECTL_DISK_UNDER !== undefined

/** A line in the record, after all earlier calls. Without a record it has no effect. */
export function mark(text: string): void {
  if (isRecorded) readlinkSync(`/leasectl-disk/mark/${text}`)
}

/** EIO and ENOSPC, as numbers of Linux. KILL ends the process at the call. */
export const ERRNO = { EIO: 5, ENOSPC: 28, KILL: 9 } as const

export interface Failing {
  readonly errno: keyof typeof ERRNO
  /** The first call that fails, from 1. */
  readonly first: number
  /** The number of failing calls; 0: all from then on. */
  readonly times: number
  /** Letters of `disk.c`. */
  readonly kinds: string
}

/** Lets calls fail from now on, and returns the calls and failures so far. `undefined`: none fails. */
export function arm(failing: Failing | undefined): { readonly seen: number; readonly injected: number } {
  const { errno, first, times, kinds } = failing ?? { errno: undefined, first: 0, times: 0, kinds: 'wst' }
  const number = errno === undefined ? 0 : ERRNO[errno]
  const [seen = 0, injected = 0] = readlinkSync(`/leasectl-disk/arm/${number}/${first}/${times}/${kinds}`)
    .split(' ')
    .map(Number)
  return { seen, injected }
}
