// Must be the first import of every zygote bundle: the libraries behind it look for platform classes as they load.

import { installPlatform, takeHost } from "./host";

export const host = takeHost();
installPlatform(host);
