import type { Kind, Runtime } from '../../cli/runtime.ts'

/**
 * Makes the program one that writes for as long as anything in the dashboard does: where the terminal goes away it does not
 * end then, and a store is not opened without knowing whether it is protected.
 */
export class Writing {
  readonly #runtime: Runtime
  #count = 0
  #before: Kind = 'reads'

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.begin()
    try {
      return await work()
    } finally {
      this.end()
    }
  }

  begin(): void {
    if (this.#count === 0) {
      this.#before = this.#runtime.kind
      this.#runtime.begin('writes')
    }
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count === 0) this.#runtime.begin(this.#before)
  }
}
