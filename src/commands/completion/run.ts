import type { Command } from 'commander'
import type { Runtime } from '../../cli/runtime.ts'
import { answerText } from './answer.ts'
import { candidatesAt } from './candidates.ts'
import { typedLine } from './line.ts'
import { placeOf } from './place.ts'
import { SHELLS, type Shell } from './shells.ts'

/** @param words the line up to the cursor; for bash also the characters at which it breaks words */
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
    // The line is half typed: nothing here is worth a word in the middle of it.
  }
}

function isShell(word: string): word is Shell {
  return (SHELLS as readonly string[]).includes(word)
}
