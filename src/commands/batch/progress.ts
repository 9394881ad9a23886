import type { GlobalOptions } from '../../cli/options.ts'
import { openProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'

const DRAW_EVERY_MS = 200

/** How far a batch is, on a terminal. */
export interface Progress {
  /** Takes the line away while something else is printed. */
  aside(print: () => Promise<void>): Promise<void>
  end(): Promise<void>
}

/**
 * Draws the text as it changes. What the first Ctrl-C says stands on a line of its own.
 *
 * @param shown `false` where what the command prints meanwhile would run into the line
 */
export function openProgress(text: () => string, options: GlobalOptions, runtime: Runtime, shown = true): Progress {
  const line = openProgressLine(options, runtime, shown)
  let isAside = false
  const draw = () => {
    if (!isAside) void line.show(text())
  }
  const timer = setInterval(draw, DRAW_EVERY_MS).unref()
  const clear = () => void line.clear()
  runtime.signal.addEventListener('abort', clear)
  return {
    async aside(print) {
      isAside = true
      await line.clear()
      await print()
      isAside = false
    },
    async end() {
      clearInterval(timer)
      runtime.signal.removeEventListener('abort', clear)
      await line.clear()
    },
  }
}
