import { describe, expect, test } from 'vitest'
import { runWorkerProcesses } from '../../../src/lab/worker-processes.ts'
import type { LineChannel } from '../../../src/process/line-process.ts'

const NEVER = new AbortController().signal

/** A worker that the test controls. */
class Puppet implements LineChannel {
  readonly heard: string[] = []
  killed = false
  #said: string[] = []
  #isOver = false
  #wake = () => {}
  readonly #end = Promise.withResolvers<{ code: number | null; stderr: string }>()
  readonly ended = this.#end.promise
  readonly lines = this.#lines()
  readonly onHeard: (line: string, puppet: Puppet) => void

  constructor(onHeard: (line: string, puppet: Puppet) => void, { isReady = true } = {}) {
    this.onHeard = onHeard
    if (isReady) this.tell({ kind: 'ready' })
  }

  say = (line: string) => {
    this.heard.push(line)
    this.onHeard(line, this)
  }
  hush = () => this.end(0)
  kill = () => {
    this.killed = true
    this.end(null)
  }

  tell(line: object): void {
    this.#said.push(JSON.stringify(line))
    this.#wake()
  }

  end(code: number | null, stderr = ''): void {
    this.#isOver = true
    this.#end.resolve({ code, stderr })
    this.#wake()
  }

  async *#lines(): AsyncGenerator<string> {
    for (;;) {
      const line = this.#said.shift()
      if (line !== undefined) yield line
      else if (this.#isOver) return
      else {
        await new Promise<void>(resolve => {
          this.#wake = resolve
        })
      }
    }
  }
}

const finish = (_line: string, puppet: Puppet) => {
  puppet.tell({ kind: 'done' })
  puppet.end(0)
}

test('no worker begins before all are ready', async () => {
  const order: string[] = []
  const start = async (name: string) => {
    const begin = (line: string, puppet: Puppet) => {
      order.push(`${name}: ${line}`)
      finish(line, puppet)
    }
    const puppet = new Puppet(begin, { isReady: false })
    const becomeReady = () => {
      order.push(`${name} is ready`)
      puppet.tell({ kind: 'ready' })
    }
    if (name === 'worker-1') becomeReady()
    else setTimeout(becomeReady, 0)
    return puppet
  }
  const members = await runWorkerProcesses({ size: 2, start, signal: NEVER })
  expect(order).toEqual(['worker-1 is ready', 'worker-2 is ready', 'worker-1: go', 'worker-2: go'])
  expect(members.map(({ name, output, killed }) => ({ name, output, killed }))).toEqual([
    { name: 'worker-1', output: [{ kind: 'done' }], killed: false },
    { name: 'worker-2', output: [{ kind: 'done' }], killed: false },
  ])
})

describe('a failing worker', () => {
  test.each(['before it is ready', 'in its work'])(
    '%s ends the test with its message; the others are stopped',
    async when => {
      const puppets: Puppet[] = []
      const start = async (name: string) => {
        const fails = name === 'worker-2'
        const puppet = new Puppet((_, own) => (fails ? own.end(9, 'the store is away') : undefined))
        if (fails && when === 'before it is ready') puppet.end(9, 'the store is away')
        puppets.push(puppet)
        return puppet
      }
      await expect(runWorkerProcesses({ size: 2, start, signal: NEVER })).rejects.toThrow(
        'worker-2 ended with 9: the store is away',
      )
      expect(await Promise.all(puppets.map(({ ended }) => ended))).toHaveLength(2)
    },
  )
})

test('a signal stops all workers with its reason', async () => {
  const stop = new AbortController()
  const start = async () => new Puppet(() => stop.abort('SIGINT'))
  await expect(runWorkerProcesses({ size: 3, start, signal: stop.signal })).rejects.toBe('SIGINT')
})

test('a killed worker is replaced until one finds that all is done; a partial line of it is ignored', async () => {
  const puppets: Puppet[] = []
  const start = async (_: string, at: number) => {
    const puppet = new Puppet((line, own) => {
      if (at < 2) return
      // The replacement of the killed one does the rest.
      for (const other of puppets) if (!other.killed) finish(line, other)
      if (!puppets.includes(own)) finish(line, own)
    })
    puppets.push(puppet)
    return puppet
  }
  const kills = { everyMs: 0, random: () => 0 }
  const members = await runWorkerProcesses({ size: 2, start, signal: NEVER, kills })
  expect(members.map(({ name, killed }) => [name, killed])).toEqual([
    ['worker-1', true],
    ['worker-2', false],
    ['worker-3', false],
  ])
})
