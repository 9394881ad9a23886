import type { GlobalOptions } from '../../cli/options.ts'
import { openProgressLine } from '../../cli/output/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'

const DRAW_EVERY_MS = 200

/** Shows the progress of a batch on a terminal. */
export interface Progress {
  /** Hides the line while something else is printed. */
  pauseFor(print: () => Promise<void>): Promise<void>
  end(): Promise<void>
}

/**
 * Redraws the text as it changes. Clears the line on the first Ctrl-C, whose message needs its own line.
 *
 * @param shown `false` if other output of the command would run into the line
 */
export function openProgress(text: () => string, options: GlobalOptions, runtime: Runtime, shown = true): Progress {
  const line = openProgressLine(options, runtime, shown)
  let isPaused = false
  const draw = () => {
    if (!isPaused) void line.show(text())
  }
  const timer = setInterval(draw, DRAW_EVERY_MS).unref()
  const clear = () => void line.clear()
  runtime.signal.addEventListener('abort', clear)
  return {
    async pauseFor(print) {
      isPaused = true
      await line.clear()
      await print()
      isPaused = false
    },
    async end() {
      clearInterval(timer)
      runtime.signal.removeEventListener('abort', clear)
      await line.clear()
    },
  }
}
