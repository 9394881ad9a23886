import { noPaint, type Paint } from '../formats/terminal/style.ts'

export type ColourChoice = 'auto' | 'always' | 'never'

/**
 * Whether output to a stream is coloured. The first of these decides: the flag, `NO_COLOR`, `FORCE_COLOR`, `TERM=dumb`,
 * whether the stream is a terminal. An empty `NO_COLOR` does not count (https://no-color.org).
 */
export function hasColour(
  choice: ColourChoice,
  env: Readonly<Record<string, string | undefined>>,
  isTty: boolean,
): boolean {
  if (choice !== 'auto') return choice === 'always'
  if (env.NO_COLOR) return false
  const forced = env.FORCE_COLOR
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false'
  return env.TERM !== 'dumb' && isTty
}

/**
 * The colours of a stream, from the 16 that follow the theme of the user. chalk does not decide whether to colour: it
 * ignores `NO_COLOR`.
 */
export async function paintFor(coloured: boolean): Promise<Paint> {
  if (!coloured) return noPaint
  const { Chalk } = await import('chalk')
  const chalk = new Chalk({ level: 1 })
  return (style, text) => {
    switch (style) {
      case 'plain':
        return text
      case 'good':
        return chalk.green(text)
      case 'bad':
        return chalk.red(text)
      case 'warn':
        return chalk.yellow(text)
      case 'active':
        return chalk.cyan(text)
      case 'dim':
        return chalk.dim(text)
      case 'strong':
        return chalk.bold(text)
      case 'mark':
        return chalk.inverse(text)
      case 'hue1':
        return chalk.cyan(text)
      case 'hue2':
        return chalk.magenta(text)
      case 'hue3':
        return chalk.blue(text)
      case 'hue4':
        return chalk.green(text)
      case 'hue5':
        return chalk.yellow(text)
      case 'hue6':
        return chalk.bold.cyan(text)
      case 'hue7':
        return chalk.bold.magenta(text)
      case 'hue8':
        return chalk.bold.blue(text)
      default:
        return style satisfies never
    }
  }
}
