import { visibleText } from '../util/visible-text.ts'
import { type Problem, problem, UsageError } from './problem.ts'
import type { Runtime } from './runtime.ts'

/**
 * Asks for a word to be typed. `undefined` means yes; everything else, end of input and Ctrl-C too, means no.
 * Without a terminal nobody can answer: then the flag is named.
 */
export function confirmByTyping(
  word: string,
  what: string,
  flag: string,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const question = `${what}. Type ${visibleText(word)} to go on: `
  return confirm(question, answer => answer === word, what, flag, runtime)
}

/** Asks for a `y`; everything else means no. */
export function confirmYesNo(what: string, flag: string, runtime: Runtime): Promise<Problem | undefined> {
  return confirm(`${what}. Go on? [y/N] `, answer => /^y(es)?$/i.test(answer), what, flag, runtime)
}

async function confirm(
  question: string,
  isYes: (answer: string) => boolean,
  what: string,
  flag: string,
  runtime: Runtime,
): Promise<Problem | undefined> {
  if (!runtime.stdin.isTty || !runtime.stderr.isTty) {
    throw new UsageError(`${what.replace(/^This /, 'this ')}; there is no terminal to ask for a confirmation`, {
      hint: `${flag} answers yes`,
    })
  }
  const answer = await runtime.stdin.ask(question)
  if (answer !== undefined && isYes(answer.trim())) return undefined
  // without an answer the cursor still stands behind the question
  if (answer === undefined) await runtime.stderr.write('\n')
  return problem('declined', 'not confirmed; nothing was changed')
}
