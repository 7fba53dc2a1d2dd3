// The event loop, for the folders that may know it.
#pragma once

#include <boost/asio.hpp>
