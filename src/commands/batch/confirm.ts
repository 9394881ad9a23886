import { confirmByTyping, confirmYesNo } from '../../cli/confirm.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'

/** How a change is confirmed; stricter the more it can destroy. */
export type Confirmation = 'none' | 'yes or no' | 'the number'

/** From this number of streams a `y` is not enough. */
const MANY = 50

export interface Weight {
  readonly streams: number
  /** Every stream was named on the command line. */
  readonly isNamed: boolean
  readonly isProtected: boolean
  /** The command cannot be undone. */
  readonly asksAlways: boolean
  /** There is a user to ask: several named streams may come from a wrong substitution. */
  readonly isTerminal: boolean
}

export function confirmationFor({ streams, isNamed, isProtected, asksAlways, isTerminal }: Weight): Confirmation {
  if (streams === 0) return 'none'
  if (streams >= MANY || isProtected) return 'the number'
  const isMeant = isNamed && (streams === 1 || !isTerminal)
  return isMeant && !asksAlways ? 'none' : 'yes or no'
}

export interface ConfirmRequest extends Weight {
  /** A single stream is confirmed by typing this. */
  readonly name?: string | undefined
  readonly flags: { readonly yes?: boolean; readonly expect?: number }
  /** `This cancels 58 streams` */
  readonly question: string
  /** The problem if `--expect` has another number. */
  readonly unexpected: (expected: number) => Problem
  /** Shows the preview. `isAnswered`: no question follows. */
  readonly preview: (isAnswered: boolean) => Promise<void>
}

/** Previews the change and asks, if required. `undefined` means: continue. */
export async function confirm(request: ConfirmRequest, runtime: Runtime): Promise<Problem | undefined> {
  const { streams, question, name } = request
  const { yes, expect } = request.flags
  if (expect !== undefined && expect !== streams) return request.unexpected(expect)
  const how = confirmationFor(request)
  if (how === 'none') return undefined
  const isAnswered = yes === true && (streams < MANY || expect !== undefined)
  await request.preview(isAnswered)
  if (isAnswered) return undefined
  const flags = streams < MANY ? '--yes' : `--yes --expect ${streams}`
  if (streams === 1 && name !== undefined) return confirmByTyping(name, question, flags, runtime)
  return how === 'the number'
    ? confirmByTyping(String(streams), question, flags, runtime)
    : confirmYesNo(question, flags, runtime)
}
