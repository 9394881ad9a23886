import { runCommandLine } from '../../../src/commands/main.ts'
import type { ProgramRuntime } from '../../../src/commands/top/dashboard.ts'
import type { Turn } from '../../../src/lab/samples.ts'
import type { LineChannel } from '../../../src/process/line-process.ts'
import { fakeRuntime, type World } from '../commands/support.ts'

/** A lab worker that runs in this process, on the world's own store. */
export function inProcess(argv: readonly string[], world: World): LineChannel {
  const heard = lineQueue()
  const said = lineQueue()
  const { runtime, written } = fakeRuntime(world, argv, { heard: heard.lines })
  const stdout = {
    isTty: false,
    columns: undefined,
    write: async (text: string | Uint8Array) => said.add(String(text)),
  }
  const ended = runCommandLine(withStdout(runtime, stdout)).then(code => {
    said.end()
    return { code, stderr: written.stderr }
  })
  return { lines: said.lines, ended, say: heard.add, hush: heard.end, kill: heard.end }
}

/** A worker that reports the given messages, and does nothing. */
export function telling(lines: readonly object[], end = { code: 0 as number | null, stderr: '' }): LineChannel {
  const all = async function* () {
    yield* [{ kind: 'ready' }, ...lines, { kind: 'done' }].map(line => JSON.stringify(line))
  }
  return { lines: all(), ended: Promise.resolve(end), say() {}, hush() {}, kill() {} }
}

/** Both workers report that they held the lease at the same time. */
export function holdingTogether(): LineChannel {
  const turn: Turn = { attempts: 1, waitedMs: 2, held: { fromMs: 100, toMs: 150 }, lost: false }
  return telling([{ kind: 'turns', turns: [turn] }])
}

function withStdout(runtime: ProgramRuntime, stdout: ProgramRuntime['stdout']): ProgramRuntime {
  return Object.defineProperty(runtime, 'stdout', { value: stdout })
}

function lineQueue() {
  const waiting: string[] = []
  let isOver = false
  let wake = () => {}
  const lines = async function* () {
    for (;;) {
      const next = waiting.shift()
      if (next !== undefined) yield next
      else if (isOver) return
      else await new Promise<void>(resolve => (wake = resolve))
    }
  }
  const change = (what: () => void) => {
    what()
    wake()
  }
  return {
    lines: lines(),
    add: (text: string) => change(() => waiting.push(...text.split('\n').filter(line => line !== ''))),
    end: () => change(() => (isOver = true)),
  }
}
