import { spawn } from '@lydell/node-pty'
import headless from '@xterm/headless'
import { MARK } from './hostile-texts.ts'

/** The effects on a terminal of everything that a program wrote. */
export interface Shown {
  readonly written: string
  /** Effects on the terminal, and parts of the output, that only data can have caused. */
  readonly driven: readonly string[]
  /** Hostile texts were in the output. */
  readonly hasHostile: boolean
  readonly exit: number
}

export interface PtyProgram {
  readonly file: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Typed as soon as the output ends with a prompt. */
  readonly answer?: string
  readonly columns?: number
}

/** A program that runs for this long waits forever. */
const PATIENCE_MS = 60_000

/** Runs a program on a pseudo-terminal to its end. */
export async function onPty({ file, argv, env, cwd, answer, columns = 100 }: PtyProgram): Promise<Shown> {
  const pty = spawn(file, [...argv], { cols: columns, rows: 24, cwd, env })
  let written = ''
  let isAnswered = false
  pty.onData(text => {
    written += text
    if (answer === undefined || isAnswered || !/(?:go on: |\[y\/N\] )/.test(written)) return
    isAnswered = true
    pty.write(answer)
  })
  const hangs = setTimeout(() => pty.kill('SIGKILL'), PATIENCE_MS)
  const exit = await new Promise<number>(resolve => {
    pty.onExit(({ exitCode, signal }) => resolve(signal ? 128 + signal : exitCode))
  })
  clearTimeout(hangs)
  return { written, exit, hasHostile: written.includes(MARK), driven: await drivenBy(written, columns) }
}

/** All effects of data on a terminal, from a whole output. */
export async function drivenBy(written: string, columns = 100): Promise<readonly string[]> {
  return [...foreignBytes(written), ...(await actsOf(written, columns))]
}

/**
 * Sequences that the program itself sends: colors, the cursor, modes, and the line end that the terminal's driver makes
 * two characters of. Hostile texts contain none of exactly these.
 */
const OWN =
  /\u001b\[(?:[0-9]{0,3}(?:;[0-9]{1,3})*m|[0-9]{0,3}(?:;[0-9]{0,3})?[ABCDEFGHJKST]|\?(?:7|25|1004|1049|2004|2026)[hl])|\u001b[78=>]|\r+\n|\r(?=\u001b\[)/g
const FOREIGN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

function foreignBytes(written: string): string[] {
  const rest = written.replace(OWN, '\n')
  const found = rest.search(FOREIGN)
  return found === -1 ? [] : [`the bytes ${JSON.stringify(rest.slice(Math.max(0, found - 30), found + 30))}`]
}

/** Their effects on an emulated terminal. */
async function actsOf(written: string, cols: number): Promise<string[]> {
  const terminal = new headless.Terminal({ cols, rows: 24, allowProposedApi: true, scrollback: 0, logLevel: 'off' })
  const acts: string[] = []
  for (const code of [0, 1, 2, 4, 8, 9, 10, 11, 12, 52, 104, 133, 777, 1337]) {
    terminal.parser.registerOscHandler(code, text => {
      acts.push(`OSC ${code} ${text.slice(0, 40)}`)
      return false
    })
  }
  for (const final of ['q', 'p', '|', 's', 't']) {
    terminal.parser.registerDcsHandler({ final }, () => {
      acts.push(`DCS ${final}`)
      return false
    })
  }
  terminal.onTitleChange(title => acts.push(`the title ${title.slice(0, 40)}`))
  terminal.onBell(() => acts.push('the bell'))
  await new Promise<void>(resolve => terminal.write(written, resolve))
  terminal.dispose()
  return acts
}
