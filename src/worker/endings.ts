import type { Operation } from '../stream/operations/operation.ts'
import { cleanProgramText, TEXT_LIMITS } from '../stream/text.ts'
import type { Claim } from './claim.ts'
import type { Ending } from './job.ts'

export const COMPLETE: Ending = { op: 'complete' }
export const RELEASE: Ending = { op: 'release' }

/** What an ending means for the stream. */
export function operationOf(ending: Ending, { event, fence }: Claim): Operation {
  switch (ending.op) {
    case 'complete':
    case 'fail':
      return { op: ending.op, event, fence, ...(ending.msg === undefined ? {} : { msg: messageText(ending.msg) }) }
    case 'advance': {
      const { next, join, forks = [] } = ending
      return { op: 'advance', event, fence, forks, ...(next && { next }), ...(join && { join }) }
    }
    case 'release':
      return { op: 'release', event, fence }
    default:
      return ending satisfies never
  }
}

/** Work that threw has failed, with what the error says. */
export function failureOf(error: unknown): Ending {
  const text = error instanceof Error ? error.message || error.name : String(error)
  return { op: 'fail', msg: messageText(text) }
}

/** A `msg` of whatever a program says: fit for a document, at most 4 KiB. */
export function messageText(text: string): string {
  return cleanProgramText(text.slice(0, 2 * TEXT_LIMITS.msg), TEXT_LIMITS.msg)
}
