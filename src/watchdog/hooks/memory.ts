import { changeAside, readAside } from '../../ops/system-documents.ts'
import type { EventStore } from '../../store/store.ts'
import { type MarkNews, type Marks, marksText, parseMarks, withNews } from './marks.ts'

/** Where the progress of one hook is kept, so that nothing is lost while nobody watches. */
export interface HookMemory {
  /** `undefined`: nothing is known, or what is there cannot be read. @throws the store's faults */
  read(): Promise<Marks | undefined>
  /** Notes how far it has come. False: not now, somebody else is at it. @throws the store's faults */
  write(news: MarkNews): Promise<boolean>
}

/** The progress of hooks in the store itself, by their keys: whichever machine goes on finds it there. */
export function hookMemory(store: EventStore, by: string): (key: string) => HookMemory {
  return key => {
    const name = `.leasectl/watchdog/hooks/${key}`
    return {
      async read() {
        const text = await readAside(store, name)
        return text === undefined ? undefined : parseMarks(text)
      },
      async write(news) {
        const change = (text: string | undefined) =>
          marksText(withNews(text === undefined ? undefined : parseMarks(text), news))
        const outcome = await changeAside(store, name, change, { by, purpose: 'watchdog: progress of a hook' })
        return outcome === 'written' || outcome === 'left'
      },
    }
  }
}
