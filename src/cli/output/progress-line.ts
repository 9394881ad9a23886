import { cut } from '../../formats/terminal/width.ts'
import type { GlobalOptions } from '../options.ts'
import type { Runtime } from '../runtime.ts'

/** A line on stderr that is redrawn in place: only on a terminal, and not with `-q`. */
export interface ProgressLine {
  show(text: string): Promise<void>
  /** Erases the line: before other output, and at the end. */
  clear(): Promise<void>
}

const ERASE = '\r\u001b[2K'

/** @param shown `false` if other output of the command would run into the line */
export function openProgressLine({ quiet }: GlobalOptions, { stderr, env }: Runtime, shown = true): ProgressLine {
  const draws = shown && stderr.isTty && !quiet && env.TERM !== 'dumb'
  let drawn = ''
  return {
    async show(text) {
      if (!draws || text === drawn) return
      drawn = text
      await stderr.write(ERASE + cut(text, (stderr.columns || 80) - 1))
    },
    async clear() {
      if (drawn !== '') await stderr.write(ERASE)
      drawn = ''
    },
  }
}
