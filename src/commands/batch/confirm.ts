import { confirmByTyping, confirmYesNo } from '../../cli/confirm.ts'
import type { Output } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { Plan } from './plan.ts'
import { countOf, sayPreview } from './preview.ts'
import type { BatchContext } from './result.ts'

/** How a change is confirmed; it grows with what the change may destroy. */
export type Confirmation = 'none' | 'yes or no' | 'the number'

/** From so many streams on a `y` is not enough. */
const MANY = 50

export interface Weight {
  readonly streams: number
  /** Each was named on the command line. */
  readonly isNamed: boolean
  readonly isProtected: boolean
  /** The command cannot be taken back at all. */
  readonly asksAlways: boolean
}

export function confirmationFor({ streams, isNamed, isProtected, asksAlways }: Weight): Confirmation {
  if (streams === 0) return 'none'
  if (streams >= MANY || isProtected) return 'the number'
  return isNamed && !asksAlways ? 'none' : 'yes or no'
}

/** Shows what would be changed and asks, as far as that is needed. `undefined` means: go on. */
export async function confirm(
  plan: Plan,
  isNamed: boolean,
  context: BatchContext,
  output: Output,
): Promise<Problem | undefined> {
  const { action, options, runtime } = context
  const streams = plan.jobs.length
  const { isProtected = false, address = '' } = runtime.opened ?? {}
  if (options.expect !== undefined && options.expect !== streams) return unexpected(options.expect, plan, context)
  const how = confirmationFor({ streams, isNamed, isProtected, asksAlways: action.asksAlways ?? false })
  const answered = options.yes && (streams < MANY || options.expect !== undefined)
  const isAsked = !answered && runtime.stdin.isTty && runtime.stderr.isTty
  const isText = options.output !== 'json' && options.output !== 'ndjson'
  if (how !== 'none' && (isText || isAsked)) await sayPreview(plan, context, output)
  if (how === 'none' || answered) return undefined
  const where = isProtected ? ` in ${visibleText(address)}, a protected store` : ''
  const what = `${action.question(countOf(plan))}${where}`
  const flags = streams < MANY ? '--yes' : `--yes --expect ${streams}`
  return how === 'the number'
    ? confirmByTyping(String(streams), what, flags, runtime)
    : confirmYesNo(what, flags, runtime)
}

function unexpected(expected: number, { jobs, leftOut }: Plan, { action }: BatchContext): Problem {
  const found = `${countText(jobs.length)}${leftOut === 0 ? '' : ` (${countText(leftOut)} ${action.leavesOut?.because}, left out)`}`
  const nothingLeft = `Was it done before? All that match are ${action.leavesOut?.because}; ls shows them.`
  return problem('changed', `expected ${counted(expected, 'stream')}, found ${found}; nothing was changed`, {
    exit: 5,
    hint: jobs.length > 0 || leftOut === 0 ? '--dry-run shows which they are.' : nothingLeft,
  })
}
