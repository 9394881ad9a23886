// child-lab ARGUMENTS…: the program, run from its sources
import { main } from '../../src/commands/main.ts'

await main()
