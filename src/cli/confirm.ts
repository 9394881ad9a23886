import { visibleText } from '../util/visible-text.ts'
import { interruptedProblem } from './error-problem.ts'
import { type Problem, problem, UsageError } from './problem.ts'
import type { Runtime, RuntimeStore } from './runtime.ts'

/** The store of a change, as every question names it: `azure:shop/orders, a protected store`. */
export function placeText(store: Pick<RuntimeStore, 'address' | 'isProtected'> | undefined): string {
  return store === undefined ? '' : `${visibleText(store.address)}${store.isProtected ? ', a protected store' : ''}`
}

/**
 * Asks the user to type a word. Returns `undefined` for yes; any other answer, end of input and Ctrl-C mean no. A signal
 * ends the command as anywhere else.
 *
 * @throws UsageError without a terminal; the hint names the flag that answers yes
 */
export function confirmByTyping(
  word: string,
  what: string,
  flag: string,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const question = `${what}. Type ${visibleText(word)} to continue: `
  return confirm(question, answer => answer === word, what, flag, runtime)
}

/** Asks for `y`; any other answer means no. */
export function confirmYesNo(what: string, flag: string, runtime: Runtime): Promise<Problem | undefined> {
  return confirm(`${what}. Continue? [y/N] `, answer => /^y(es)?$/i.test(answer), what, flag, runtime)
}

async function confirm(
  question: string,
  isYes: (answer: string) => boolean,
  what: string,
  flag: string,
  runtime: Runtime,
): Promise<Problem | undefined> {
  if (!runtime.stdin.canAsk || !runtime.stderr.isTty) {
    throw new UsageError(`${what.replace(/^This /, 'this ')}; there is no terminal to ask for confirmation`, {
      hint: `${flag} answers yes`,
    })
  }
  const answer = await runtime.stdin.ask(question)
  if (answer !== undefined && isYes(answer.trim())) return undefined
  // without an answer the cursor is still after the question
  if (answer === undefined) await runtime.stderr.write('\n')
  if (!runtime.signal.aborted) return problem('declined', 'not confirmed; nothing was changed')
  const { message, ...interrupted } = interruptedProblem(runtime.signal)
  return { ...interrupted, message: `${message}; nothing was changed` }
}
