module.exports = '<svg/>';
