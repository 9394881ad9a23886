import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'

/** The result of a process, and all its output. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly process: ChildProcess
  /** The output so far. */
  readonly said: { readonly stdout: string; readonly stderr: string }
  readonly ended: Promise<Ended>
  /** Resolves as soon as the stream has printed it; rejects if the process ends before. */
  until(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<void>
}

/** A user of the built program with a home folder and an environment of its own. */
export interface User {
  readonly home: string
  /** The program's entry file. */
  readonly bin: string
  /** What starts the program: a file and its first arguments. */
  readonly command: readonly [string, ...string[]]
  /** The environment of every process that is started. */
  readonly env: Readonly<Record<string, string>>
  start(argv: readonly string[], env?: Record<string, string>): Running
  run(argv: readonly string[], env?: Record<string, string>): Promise<Ended>
  /** A shell in which `leasectl` is a command. */
  shell(script: string, env?: Record<string, string>): Running
  /** Processes with the text in their command line, whatever started them. */
  processesWith(text: string): number[]
  /** Ends running processes and removes the home folder. */
  leave(): void
}

/** The folder with `bin` and `dist`. It is built once for all test files. */
export async function programFolder(): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${inject('programControlPort')}`)
  const folder = await response.text()
  if (!response.ok) throw new Error(folder)
  return folder
}

/** The environment with a cache of compiled code, for a process of a test that imports the built library. */
export function warmStart(folder: string): Record<string, string> {
  return { NODE_COMPILE_CACHE: join(caches(folder), 'leasectl', 'compile') }
}

/** The compiled code is shared: a fresh cache would make each start slower than for any user. */
function caches(folder: string): string {
  return join(folder, 'cache')
}

/** LEASECTL_TEST_EXECUTABLE is the path of a single executable to test instead of the program that Node starts. */
export async function newUser(executable = process.env.LEASECTL_TEST_EXECUTABLE): Promise<User> {
  return new BuiltProgramUser(await programFolder(), executable)
}

class BuiltProgramUser implements User {
  readonly home = mkdtempSync(join(tmpdir(), 'leasectl-user-'))
  readonly bin: string
  readonly command: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  readonly #children = new Set<ChildProcess>()

  constructor(folder: string, executable: string | undefined) {
    this.bin = join(folder, 'bin', 'leasectl.js')
    this.command = executable === undefined ? [process.execPath, this.bin] : [executable]
    const commands = join(this.home, 'bin')
    mkdirSync(commands)
    const script = `#!/bin/sh\nexec ${this.command.map(word => `'${word}'`).join(' ')} "$@"\n`
    writeFileSync(join(commands, 'leasectl'), script, { mode: 0o755 })
    const cache = caches(folder)
    this.env = { PATH: `${commands}:${process.env.PATH}`, HOME: this.home, XDG_CACHE_HOME: cache, TERM: 'xterm' }
  }

  start(argv: readonly string[], env: Record<string, string> = {}): Running {
    const [file, ...first] = this.command
    return this.#spawn(file, [...first, ...argv], env)
  }

  run(argv: readonly string[], env?: Record<string, string>): Promise<Ended> {
    return this.start(argv, env).ended
  }

  shell(script: string, env: Record<string, string> = {}): Running {
    return this.#spawn('bash', ['-c', script], env)
  }

  processesWith(text: string): number[] {
    const ids = readdirSync('/proc').filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
    return ids.filter(id => commandLineOf(id).includes(text)).map(Number)
  }

  leave(): void {
    for (const child of this.#children) child.kill('SIGKILL')
    rmSync(this.home, { recursive: true, force: true })
  }

  #spawn(command: string, args: readonly string[], env: Record<string, string>): Running {
    // Standard input stays open: its end must not count as an answer.
    const child = spawn(command, args, { env: { ...this.env, ...env }, stdio: 'pipe', cwd: this.home })
    this.#children.add(child)
    child.on('close', () => this.#children.delete(child))
    return running(child)
  }
}

function commandLineOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Collects the output of a child process. */
function running(child: ReturnType<typeof spawn>): Running {
  const said = { stdout: '', stderr: '' }
  let look = () => {}
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', text => {
      said[stream] += text
      look()
    })
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, ...said }))
  })
  return {
    process: child,
    said,
    ended,
    until(stream, pattern) {
      return new Promise((resolve, reject) => {
        const before = look
        look = () => {
          before()
          if (pattern.test(said[stream])) resolve()
        }
        look()
        void ended.then(what => reject(new Error(`${pattern} was not said: ${JSON.stringify(what)}`)))
      })
    },
  }
}
