import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createStream, openStore } from '../../src/index.ts'
import { type Ended, newUser, type Running, type User } from './program.ts'

let user: User
beforeAll(async () => {
  user = await newUser()
})
afterAll(() => user.leave())

const env = () => ({ LEASECTL_STORE: `sqlite:${join(user.home, 'a.db')}` })
let streams = 0

/** A stream of its own for each test, with one event to work on. */
async function newStream(): Promise<string> {
  streams += 1
  const stream = `s/${streams}`
  expect(await user.run(['init', stream, '-q', '--fork', 'A'], env())).toMatchObject({ code: 0, stderr: '' })
  return stream
}

const OWN = '"$LEASECTL_STREAM" "$LEASECTL_EVENT" -q'

function work(stream: string, script: string, flags: readonly string[] = []) {
  const words = ['work', '--name', 'A', '--match', stream, '--until-empty', ...flags]
  return user.shell(`leasectl ${words.join(' ')} -- sh -c '${script}'`, env())
}

describe('a command under work that ends its event itself', () => {
  test.each([
    [`leasectl event complete ${OWN} -m mine`, 0, /^completed {2}s\/\d+ 01\.00 A in [^:]*: mine$/m, '1 done'],
    [`leasectl event advance ${OWN} --next B`, 0, /^advanced {3}s\/\d+ 01\.00 A in [^:]*$/m, '1 done'],
    [`leasectl event fail ${OWN} -m mine`, 7, /^failed {5}s\/\d+ 01\.00 A in [^:]*: mine$/m, '1 failed'],
    [`leasectl event release ${OWN}`, 7, /^released {3}s\/\d+ 01\.00 A in [^:]*$/m, '1 handed back'],
    // long enough for a heartbeat to see the end
    [`leasectl event complete ${OWN}; sleep 2`, 0, /^completed {2}s\/\d+ 01\.00 A in/m, '1 done'],
  ])('%s', async (script, code, line, sum) => {
    const ended = await work(await newStream(), script).ended
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(line) })
    expect(ended.stderr).toContain(`worked on 1 event: ${sum}`)
  })

  test('has in the line of -o ndjson the result, its version and its successors', async () => {
    const { code, stdout } = await work(await newStream(), `leasectl event advance ${OWN} --fork B,C`, ['-o', 'ndjson'])
      .ended
    const line = { outcome: 'advanced', code: null, exit: 0, version: 3, added: ['01.01.00', '01.02.00'], done: false }
    expect({ code, line: JSON.parse(stdout) }).toMatchObject({ code: 0, line })
  })
})

/** Tells that the command runs, and waits until the test has replaced the stream. */
const AWAIT_REPLACEMENT = 'touch running; until [ -e replaced ]; do sleep 0.02; done; rm running replaced'

describe('a stream that was removed while another has its name', () => {
  const told = (stream: string) => `the stream ${stream} of this claim was removed, and another has its name now`

  /** Replaces the stream while a command works on it, too fast for a look at the claim in between. */
  async function replace(stream: string): Promise<void> {
    await vi.waitUntil(() => existsSync(join(user.home, 'running')), { timeout: 60_000 })
    await using store = await openStore(env().LEASECTL_STORE)
    expect(await store.remove(stream, {})).toMatchObject({ kind: 'removed' })
    expect(await createStream(store, stream, { by: 'test' })).toMatchObject({ kind: 'done' })
    writeFileSync(join(user.home, 'replaced'), '')
  }

  async function workOnReplaced(stream: string, running: Running): Promise<Ended> {
    await replace(stream)
    return running.ended
  }

  test('is reported by exec: 125', async () => {
    const stream = await newStream()
    const running = user.shell(`leasectl exec ${stream} 01.00 -- sh -c '${AWAIT_REPLACEMENT}'`, env())
    const ended = await workOnReplaced(stream, running)
    expect(ended).toMatchObject({ code: 125, stderr: expect.stringContaining(`error: ${told(stream)}`) })
    expect(ended.stderr).toMatch(/\[stream-not-found\](.|\n)*^ {2}code {5}3 in help exit-codes$/m)
  })

  test('is reported by work: 7', async () => {
    const stream = await newStream()
    const ended = await workOnReplaced(stream, work(stream, AWAIT_REPLACEMENT))
    expect(ended).toMatchObject({ code: 7, stderr: expect.stringContaining(`: missing: ${told(stream)}`) })
  })

  test.each(['exec', 'work --once'])('is reported by a heartbeat that saw it: %s', async how => {
    const stream = await newStream()
    const words = how === 'exec' ? `exec ${stream} 01.00` : `work --once --name A --match ${stream}`
    const running = user.shell(`leasectl ${words} -- sh -c '${AWAIT_REPLACEMENT}; exec sleep 20'`, env())
    const ended = await workOnReplaced(stream, running)
    expect(ended).toMatchObject({ code: 125, stderr: expect.stringContaining(told(stream)) })
  })
})
