import type { Command } from 'commander'
import type { GlobalOptions } from '../../cli/options.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { candidatesAt } from './candidates.ts'
import { placeOf, typedLine } from './line.ts'
import { answerText, SCRIPTS } from './scripts.ts'
import { SHELLS, type Shell } from './shells.ts'

/** @param words the line up to the cursor; for bash also its word break characters */
export async function printCandidates(
  program: Command,
  shell: string,
  [line = '', breaks = '']: readonly string[],
  runtime: Runtime,
): Promise<void> {
  if (!isShell(shell)) return
  try {
    const typed = typedLine(line, shell, breaks)
    const place = placeOf(program, typed.before, typed.current)
    const found = await candidatesAt(place, typed.current, program, runtime)
    await runtime.stdout.write(answerText(found, shell, typed))
  } catch {
    // An error message would disturb the half-typed line.
  }
}

function isShell(word: string): word is Shell {
  return (SHELLS as readonly string[]).includes(word)
}

export interface CompletionOptions extends GlobalOptions {
  readonly shell: Shell
}

export async function printScript({ shell }: CompletionOptions, runtime: Runtime): Promise<Problem | undefined> {
  await runtime.stdout.write(SCRIPTS[shell])
  return undefined
}
