import type { ChildProcess } from 'node:child_process'

/** Programs under way, each with a group of its own: whatever ends this process, even a second signal, ends them too. */
export class RunningGroups {
  readonly #children = new Set<ChildProcess>()

  add(child: ChildProcess): void {
    if (this.#children.size === 0) process.on('exit', this.#end)
    this.#children.add(child)
  }

  delete(child: ChildProcess): void {
    this.#children.delete(child)
    if (this.#children.size === 0) process.off('exit', this.#end)
  }

  /** At the exit of a process nothing can be waited for. */
  readonly #end = (): void => {
    for (const child of this.#children) signalGroup(child, 'SIGKILL')
  }
}

/** False if nobody of the group is there any more. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}
