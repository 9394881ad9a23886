import type { TimeStyle } from '../formats/terminal/numbers.ts'
import { noPaint, type Paint } from '../formats/terminal/style.ts'
import { hasColour, paintFor } from './color.ts'
import type { GlobalOptions } from './options.ts'
import type { Runtime } from './runtime.ts'

/** stdout is data, stderr is talk: a command writes through one of these and never elsewhere. */
export interface Output {
  readonly paint: Paint
  /** Columns of the terminal that stdout is, `undefined` elsewhere: then nothing is cut. */
  readonly width: number | undefined
  readonly time: TimeStyle
  lines(lines: readonly string[]): Promise<void>
  text(text: string | Uint8Array): Promise<void>
  /** A sentence on stderr, unless `-q`. */
  say(sentence: string): Promise<void>
  /** A sentence on stderr with `-v`. */
  detail(sentence: string): Promise<void>
}

export async function openOutput(
  options: GlobalOptions,
  runtime: Runtime,
  usualTime: TimeStyle = 'relative',
): Promise<Output> {
  const human = options.output !== 'json' && options.output !== 'ndjson' && options.output !== 'yaml'
  const coloured = human && hasColour(options.color ?? 'auto', runtime.env, runtime.stdout.isTty)
  const { stdout, stderr } = runtime
  return {
    paint: coloured ? await paintFor(true) : noPaint,
    width: stdout.isTty ? stdout.columns : undefined,
    time: options.time ?? usualTime,
    lines: async lines => {
      if (lines.length > 0) await stdout.write(`${lines.join('\n')}\n`)
    },
    text: text => stdout.write(text),
    say: async sentence => {
      if (!options.quiet) await stderr.write(`${sentence}\n`)
    },
    detail: async sentence => {
      if (options.verbose) await stderr.write(`${sentence}\n`)
    },
  }
}
