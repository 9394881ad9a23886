// child-lab ARGUMENTS…: the program, from the sources as they stand
import { main } from '../../src/commands/main.ts'

await main()
