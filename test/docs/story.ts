import { randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { newUser, type User } from '../e2e/program.ts'
import { sharedAzurite } from '../support/azurite.ts'
import { bringExamples } from './examples-at-home.ts'
import { type Example, outputFits } from './page.ts'

/** The result of an example. */
export interface Played {
  readonly code: number | null
  /** All output, in order, as the reader of the page sees it: ann on ops-1, at home in /home/ann. */
  readonly printed: string
}

/** Each page is the story of one operator: its examples run in order, with its own home folder and an empty store. */
export class Story {
  readonly #examples: readonly Example[]
  readonly #played: Promise<Played>[] = []
  /** On pages the emulator listens at its usual address; here each page has its own containers. */
  readonly #containers = new Map<string, string>()
  readonly #life = randomUUID().slice(0, 8)
  #user: User | undefined

  constructor(examples: readonly Example[]) {
    this.#examples = examples
  }

  /** Begins, unless it has begun. */
  begin(): void {
    if (this.#played.length > 0) return
    let before: Promise<unknown> = this.#enter()
    for (const example of this.#examples) {
      const played = before.then(() => this.#play(example))
      // A failure is reported by the test that waits for it.
      before = played.catch(() => {})
      this.#played.push(played)
    }
  }

  async outcome(at: number): Promise<Played> {
    const played = this.#played[at]
    if (played === undefined) throw new Error('no such example')
    return played
  }

  end(): void {
    this.#user?.leave()
  }

  async #enter(): Promise<void> {
    this.#user = await newUser()
    if (this.#examples.some(({ script }) => script.lines.join('\n').includes('examples/'))) bringExamples(this.#user)
  }

  async #play(example: Example): Promise<Played> {
    const user = this.#user
    if (user === undefined) throw new Error('nobody is there')
    const running = user.shell(await this.#withContainers(scriptOf(example)))
    const printed = () => this.#asSeen(running.said.stdout, user)
    if (!follows(example)) return { code: (await running.ended).code, printed: printed() }
    const interrupt = () => running.process.kill('SIGINT')
    const late = setTimeout(interrupt, FOLLOW_MS)
    running.process.stdout?.on('data', () => {
      if (outputFits(example.output?.lines ?? [], printed())) interrupt()
    })
    const { code } = await running.ended
    clearTimeout(late)
    return { code: code === 130 ? 0 : code, printed: printed() }
  }

  async #withContainers(script: string): Promise<string> {
    for (const [shown, name] of script.matchAll(/\bazurite:([a-z0-9-]+)/g)) {
      if (this.#containers.has(shown)) continue
      const { port } = await sharedAzurite()
      this.#containers.set(shown, `azurite://127.0.0.1:${port}/${name}-${this.#life}`)
    }
    return [...this.#containers].reduce((text, [shown, real]) => text.replaceAll(shown, real), script)
  }

  #asSeen(printed: string, { home }: User): string {
    const shown = printed
      .replaceAll(home, '/home/ann')
      .replaceAll(ACTOR, 'ann@ops-1')
      .replaceAll(` ${hostname()} `, ' ops-1 ')
    return [...this.#containers].reduce((text, [shown, real]) => text.replaceAll(real, shown), shown)
  }
}

const ACTOR = `${userInfo().username}@${hostname()}`

/** Time after which a following command that has not printed the output of the page is interrupted. */
const FOLLOW_MS = 60_000

/** If the last command follows changes, it is interrupted as soon as it has printed the output of the page. */
function follows({ script }: Example): boolean {
  return /^leasectl (tail\b.*\s(-f|--follow)\b|top\b)/.test(script.lines.at(-1) ?? '')
}

/** Every command has to succeed, unless the page states its exit code: `# exit 3`. */
function scriptOf(example: Example): string {
  const lines = example.script.lines.join('\n').replaceAll('\\\n', ' ').split('\n').map(checkedLine)
  // With exec, so that the signal reaches it.
  if (follows(example)) lines.push(`exec ${lines.pop()}`)
  return `set -euo pipefail\nexec 2>&1\n${lines.join('\n')}`
}

function checkedLine(line: string): string {
  const [, command, code] = /^(.*)# exit (\d+)\s*$/.exec(line) ?? []
  if (command === undefined) return line
  return `status=0; ${command} || status=$?; [ $status -eq ${code} ] || { echo "ended with $status"; exit 99; }`
}
