import { visibleText } from '../stream/texts.ts'
import { type Problem, problem, UsageError } from './problem.ts'
import type { Runtime } from './runtime.ts'

/**
 * Asks for a word to be typed. `undefined` means yes; everything else, end of input and Ctrl-C too, means no.
 * Without a terminal nobody can answer: then the flag is named.
 */
export async function confirmByTyping(
  word: string,
  what: string,
  flag: string,
  runtime: Runtime,
): Promise<Problem | undefined> {
  if (!runtime.stdin.isTty || !runtime.stderr.isTty) {
    throw new UsageError(`${what}; there is no terminal to ask for a confirmation`, {
      hint: `${flag} answers yes`,
    })
  }
  const answer = await runtime.stdin.ask(`${what}. Type ${visibleText(word)} to go on: `)
  if (answer?.trim() === word) return undefined
  // without an answer the cursor still stands behind the question
  if (answer === undefined) await runtime.stderr.write('\n')
  return problem('declined', 'not confirmed; nothing was changed')
}
