// A separate program: node child.ts increment|try FILE [COUNT]
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import { changeOptions, increment, namesOf, stored, text } from '../../../contract/harness.ts'

const [task, path = '', count = '0'] = process.argv.slice(2)
const store = openSqliteStore(path)

/** Prints each number once it is committed. */
async function incrementing(): Promise<void> {
  for (let i = 0; i < Number(count); i += 1) {
    let written = ''
    const outcome = await store.update(
      'counter',
      current => {
        const decision = increment(current)
        if (decision.kind === 'put') written = text(decision.body)
        return decision
      },
      changeOptions(),
    )
    if (outcome.kind !== 'committed') throw new Error(outcome.kind)
    process.stdout.write(`${written}\n`)
  }
}

/** Prints the rows, the journal mode, and the code with which a write fails. */
async function trying(): Promise<void> {
  const names = await namesOf(store)
  const body = text((await stored(store, 'counter')).body)
  const fault: unknown = await store.update('counter', increment, changeOptions()).catch(error => error)
  const code = fault instanceof Error && 'code' in fault ? fault.code : fault
  const facts = await store.inspect()
  const journalMode = facts.kind === 'sqlite' ? facts.journalMode : undefined
  process.stdout.write(`${JSON.stringify({ names, body, journalMode, code })}\n`)
}

await (task === 'increment' ? incrementing() : trying())
await store.close()
